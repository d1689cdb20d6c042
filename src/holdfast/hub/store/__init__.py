"""The database: tables, engines, migrations. SQLite by default, PostgreSQL for teams."""
