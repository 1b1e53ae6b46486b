#pragma once

// The pages of schedule_page.html and comparison_page.html as text: the one mark of each, @DATA@,
// stands where the data goes.

namespace muster::sim {

const char* SchedulePage();
const char* ComparisonPage();

}  // namespace muster::sim
