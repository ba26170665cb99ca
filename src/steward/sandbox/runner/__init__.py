"""The inside of every sandbox: confines itself, runs one request, answers in JSON, and is killed.

The same runner lives in the embedded zygote and in containers; a provider only decides where.
"""
