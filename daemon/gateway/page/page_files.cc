#include "daemon/gateway/page/page_files.h"

// The assembler takes the files in; the build knows that this unit depends on them.
#define MUSTER_PAGE_FILE(NAME, FILE)                                            \
  __asm__(".section .rodata\n.global page_" #NAME "_begin\n.global page_" #NAME \
          "_end\n"                                                              \
          "page_" #NAME "_begin:\n.incbin \"" MUSTER_PAGE_DIRECTORY "/" FILE    \
          "\"\n"                                                                \
          "page_" #NAME "_end:\n.byte 0\n.text\n");                             \
  extern "C" const char page_##NAME##_begin[];                                  \
  extern "C" const char page_##NAME##_end[]

#define MUSTER_PAGE_SCRIPT(NAME) MUSTER_PAGE_FILE(NAME, "js/" #NAME ".js")

MUSTER_PAGE_FILE(html, "page.html");
MUSTER_PAGE_FILE(css, "page.css");
MUSTER_PAGE_FILE(mark, "mark.svg");
MUSTER_PAGE_SCRIPT(act);
MUSTER_PAGE_SCRIPT(alerts);
MUSTER_PAGE_SCRIPT(api);
MUSTER_PAGE_SCRIPT(app);
MUSTER_PAGE_SCRIPT(charts);
MUSTER_PAGE_SCRIPT(dom);
MUSTER_PAGE_FILE(gantt, "../../../scheduler/simulator/report/gantt.js");
MUSTER_PAGE_SCRIPT(grid);
MUSTER_PAGE_SCRIPT(job);
MUSTER_PAGE_SCRIPT(jobs);
MUSTER_PAGE_SCRIPT(nodes);
MUSTER_PAGE_SCRIPT(output);
MUSTER_PAGE_SCRIPT(overview);
MUSTER_PAGE_SCRIPT(plan);
MUSTER_PAGE_SCRIPT(queue);
MUSTER_PAGE_SCRIPT(shares);
MUSTER_PAGE_SCRIPT(submit);

namespace muster::daemon {
namespace {

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

PageFile Script(const char* path, const char* begin, const char* end) {
  return {path, "text/javascript; charset=utf-8", Between(begin, end)};
}

}  // namespace

const std::vector<PageFile>& PageFiles() {
  static const std::vector<PageFile> files = {
      {"/", "text/html; charset=utf-8", Between(page_html_begin, page_html_end)},
      {"/page.css", "text/css; charset=utf-8", Between(page_css_begin, page_css_end)},
      {"/mark.svg", "image/svg+xml", Between(page_mark_begin, page_mark_end)},
      Script("/js/act.js", page_act_begin, page_act_end),
      Script("/js/alerts.js", page_alerts_begin, page_alerts_end),
      Script("/js/api.js", page_api_begin, page_api_end),
      Script("/js/app.js", page_app_begin, page_app_end),
      Script("/js/charts.js", page_charts_begin, page_charts_end),
      Script("/js/dom.js", page_dom_begin, page_dom_end),
      Script("/js/gantt.js", page_gantt_begin, page_gantt_end),
      Script("/js/grid.js", page_grid_begin, page_grid_end),
      Script("/js/job.js", page_job_begin, page_job_end),
      Script("/js/jobs.js", page_jobs_begin, page_jobs_end),
      Script("/js/nodes.js", page_nodes_begin, page_nodes_end),
      Script("/js/output.js", page_output_begin, page_output_end),
      Script("/js/overview.js", page_overview_begin, page_overview_end),
      Script("/js/plan.js", page_plan_begin, page_plan_end),
      Script("/js/queue.js", page_queue_begin, page_queue_end),
      Script("/js/shares.js", page_shares_begin, page_shares_end),
      Script("/js/submit.js", page_submit_begin, page_submit_end),
  };
  return files;
}

const PageFile* FindPageFile(const std::string& path) {
  for (const PageFile& file : PageFiles()) {
    if (file.path == path) {
      return &file;
    }
  }
  return nullptr;
}

}  // namespace muster::daemon
