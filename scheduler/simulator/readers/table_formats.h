#pragma once

// The formats that are tables with a line of column names, each as data: what a column means.
//
// A column that a format does not know is passed over; an empty value is "not known". Columns apply
// in the order of the format, so that of two with the same meaning the later one counts. Thread
// promise: constant data and pure functions.

#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/simulator/readers/trace_reader.h"

namespace muster::sim {

// A row as far as its columns have been read; times are as they stand in the file.
struct TableRow {
  TraceRecord record;
  bool has_id = false;
  bool is_step = false;     // no job: a step of one, or an array's tasks that were never started
  std::int64_t start = -1;  // s
  std::int64_t end = -1;    // s
  std::int64_t gpus = -1;   // GPUs, each of gpu_share
  std::int64_t gpu_share = 1000;
};

struct TableColumn {
  const char* name = "";
  const char* expected = "";  // what it takes, for the error line
  // False when `text`, which is not empty, is not what it takes.
  bool (*read)(std::string_view text, TableRow* row, TraceNames* names) = nullptr;
  bool tells = false;  // the format is recognised by it
};

struct TableFormat {
  TraceFormat format = TraceFormat::kCsv;
  char separator = ',';
  bool has_dates =
      false;  // times are of the calendar: they become seconds since the first submission
  std::vector<TableColumn> columns;
};

// Those that more columns recognise come first.
const std::vector<TableFormat>& TableFormats();
// REQUIRES: one of TableFormats().
const TableFormat& TableFormatOf(TraceFormat format);
// True when `line` has every column that tells the format.
bool IsHeaderOf(const TableFormat& format, std::string_view line);

// The parts of `line` between separators.
void SplitLine(std::string_view line, char separator, std::vector<std::string_view>* parts);

}  // namespace muster::sim
