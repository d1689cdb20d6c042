"""The database: tables, engines, migrations. SQLite by default, PostgreSQL for teams."""

import sqlalchemy  # noqa: F401  (whole, first: two threads that import parts of it at once fail)
