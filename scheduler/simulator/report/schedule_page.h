#pragma once

// The page of schedule_page.html as text: its one mark, @DATA@, stands where the data goes.
//
// Thread promise: a constant.

namespace muster {

const char* SchedulePage();

}  // namespace muster
