# %% [markdown]
# # Greet the release manager
#
# Two tasks, one story.

# %%
release = 7

# %% [markdown]
# ## 01.1 Greet by name

# %%
# answer: 01.1
def greeting(name: str) -> str:
    # BEGIN SOLUTION
    words = f"Hello, {name}: release {release}"
    return words
    # END SOLUTION


# %%
# check: 01.1 the name is in the greeting
assert greeting("Ada") == "Hello, Ada: release 7", f"expected Ada to be greeted, got {greeting('Ada')!r}"

# %%
# check: 01.1 another name, another greeting
print(greeting("Bob"))

# %% [markdown]
# ## 01.2 Refuse an empty name

# %%
# answer: 01.2
def checked(name: str) -> str:
    # BEGIN SOLUTION
    if not name.strip():
        raise ValueError("a name is needed, and it was empty")
    return greeting(name)
    # END SOLUTION


# %%
# check: 01.2 an empty name is refused
try:
    checked(" ")
except ValueError:
    refused = True
else:
    refused = False
assert refused, "expected a refusal of an empty name, got a greeting"

# %% [markdown] tags=["teacher"]
# Only teachers see this: most students forget the blank.
