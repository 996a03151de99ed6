# %% [markdown]
# # Hello
#
# The build of release 7 is **green**.

# %%
from pathlib import Path

build = "green"
build

# %% tags=["raises-exception"]
raise ValueError("a build cannot be purple")
