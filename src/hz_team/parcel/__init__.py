"""Split mode: one tick in three processes. Only the first and the last may write; what they hand over is here.

`sheet` is plan.json, `artefact` what a draft process hands back, `proof` what of that is taken, `standing` what may be
drafted side by side and what may still be settled. Pure but for the files it reads and writes, and for contained
children that render titles and draw patches.
"""
