"""Central decisions: a server that answers what http hooks of other machines ask, by the hooks configured for it.

`decide` makes one decision, `app` is the ASGI application in front of it, `server` runs it on uvicorn, and `access`
says who may ask and where it may listen.
"""
