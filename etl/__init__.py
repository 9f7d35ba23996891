"""cclake: Claude Code's session logs as Parquet tables and DuckDB views.

The map, in the order in which a run flows through it:

    __main__   python -m etl
    cli        commands: parse options, call one function, show the result
    output     how results and errors are shown: text or JSON
    counts     numbers and what they count, in words
    config     where logs, warehouse and own prices are
    access     who may read and write a warehouse: its owner alone
    errors     the few ways in which a run can fail, with their exit codes
    pipeline   one run, top to bottom: the file to read first
    discover   roots → files, and what their paths say
    ledger     what is known of every file ever found
    resume     file and ledger → nothing to do, or a look
    peek       the head of a new file → its session and month
    parts      session → part
    tasks      sessions → parts, and what each worker gets
    workers    processes that work for one run and end with it
    stopping   what a run does when it is told to stop
    build      one part: the worker's step
    follow     one log, from where it was left
    read       bytes from an offset → whole lines; a torn tail waits
    redact     raw lines → the same lines without secrets of known kinds, pure
    parse      line → JSON objects, or the reason why not
    normalise  objects → columns, pure
    facts      many lines → Arrow tables
    around     typed prompts, indexes, statistics: the files around the logs
    engine     how DuckDB is opened: without network, spilling in private
    derive     facts of a part → derived tables, by SQL
    write      Arrow → Parquet, durable
    runs       the list of runs
    lock       one writer at a time
    chain      the commit documents, each tied to the one before
    commit     all tables and offsets in one atomic step; publish, recover, retire
    step       what a run wrote becomes the next commit, and is shown
    content    what is kept of what was said: all, no known secrets, or counts alone
    redact     known secrets, hidden in the bytes of lines
    rewrite    stored facts written anew: upgraded, without content, without lines
    terms      on which terms a warehouse keeps content, and how they change
    views      tables and sql/ → DuckDB views
    tables     the declaration of every table
    sqlfiles   the shipped SQL and its headers
    catalog    declarations and headers → sql/README.md
    answers    one query and its result, in the form asked for
    frames     tables, views and queries as polars frames
    sessions   sessions by id or directory
    reading    a session as its reader expects it: its threads, asked of the warehouse
    conversation  rows of threads → turns, messages, calls and agents, pure
    pages      what is read: a session as text, Markdown or one object, and hits
    search     where words stand
    shell      a prompt of our own: statements over several lines, on one snapshot
    keyboard   line editing, completion, and a history
    client     DuckDB's own client, where one is installed
    rebuild    rows → the object that was logged, pure
    restore    a session's files, back from the warehouse
    forget     sessions or lines taken out for good, and the proof that they are gone
    omit       what goes, and the books without it
    traces     where words still stand in a warehouse
    check      the promise, proven from the warehouse, and beside the logs
    compare    a log that is still there beside its rows, line by line
    repair     a damaged warehouse, rebuilt from a commit that is left and from the logs
    reread     after a repair, what the logs still have
    salvage    what is left to start from: documents, published trees, whole files
    mend       one part whose facts are damaged: what is left, read again, lost
    shelf      the books of a commit that is repaired
    status     what is in the warehouse, and how fresh
    freshness  the last sync against the days that logs live
    prices     dated price cards, own prices over them, and which model a name means
    pricing    the price book as tables of a commit
    bill       how the cost of one response comes about
    cards      the price book for people, and why a name has its price
    hashing    content hashes
    jsontext   values ↔ JSON text
    demo       a made-up log tree
"""

__version__ = "0.1.0"
