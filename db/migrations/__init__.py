"""Alembic's migrations, part of the package: `db.session.Database.upgrade` runs them."""
