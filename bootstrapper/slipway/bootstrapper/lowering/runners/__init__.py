"""The runners: what carries out the steps of a plan on the machine, and the code that emits its data.

They are apart from the passes because they know nothing of any feature: steps and staged items go in, files
and an entry point come out. The runners themselves are static programs beside this file; user data never
becomes a part of their text. What they promise stands in the module `lower_steps`.
"""
