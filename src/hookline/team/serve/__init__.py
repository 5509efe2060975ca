"""Serve decisions centrally: answer HTTP hooks of other machines with the hooks configured here.

`decide` makes one decision, `app` is the ASGI application in front of it, `server` runs it on uvicorn, and
`access` says who may ask and where it may listen.
"""
