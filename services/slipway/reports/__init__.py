"""Reports of machines: kept in an object store, under names that are the index, and served by ReportService.

Nothing is kept in a process that another replica or the next start would miss.
"""
