"""From a project to a component: `python -m placewright.building FOLDER`.

Runs in ordinary Python. `project` finds out what is to be built, `component` has
componentize-py build it with WASI stubbed out, and `imports` looks whether the
component imports no more than a unit may.
"""
