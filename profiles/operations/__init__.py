"""The operations: their inputs, references, costs and implementations. Only the measuring child imports them (torch).

A module holds, by these names, what `profiles.measure.loading.OperationModule` lists. An implementation is a plain
function of the module's inputs; one that needs a context around it is wrapped by `within`.
"""
