"""Alembic runs inside the transaction it is handed: all of a migration, or nothing."""

from alembic import context

from holdfast.hub.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
