#include "scheduler/core/state/apply/alert_table.h"

namespace muster::core {
namespace {

AlertTable::Name NameOf(const Alert& alert) {
  return {alert.rule, alert.subject};
}

}  // namespace

void AlertTable::Load(std::vector<Alert> alerts) {
  for (Alert& alert : alerts) {
    AlertTable::Name name = NameOf(alert);
    all_.insert_or_assign(std::move(name), std::move(alert));
  }
}

void AlertTable::Begin(const Alert& alert) {
  all_.insert_or_assign(NameOf(alert), alert);
}

void AlertTable::End(const Alert& alert) {
  all_.erase(NameOf(alert));
}

}  // namespace muster::core
