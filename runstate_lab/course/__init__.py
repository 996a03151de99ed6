"""The course around the book: what is taught in which order, built and checked.

Machinery: it imports the book and `show`, never the other way round. Reading
order: `faults`, `catalogue`, `marks`, `build`, `progress`, `checks`, `release`,
`verify`.
"""
