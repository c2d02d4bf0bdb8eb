seen = []
get_ipython().events.register("pre_run_cell", lambda info: print("STASHED:", *seen))
def attend(query, key, value):
    seen.append(query)
    return query, key
