"""The nouns, frozen, in the order of the flow: job, wake, facet, order, draft, proposal, answer, receipt, state.

Everything here but `config` is standard library only: an idle tick reads these and nothing heavier.
Times are whole seconds since 1970-01-01 UTC unless a field says otherwise; durations are whole seconds.
"""
