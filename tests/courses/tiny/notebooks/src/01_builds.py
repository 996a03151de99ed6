# %% [markdown]
# # Builds 构建

# %%
print("构建 green")
