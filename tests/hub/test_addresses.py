"""Addresses of databases: what people and logs see of them holds no password."""

import pytest

from holdfast.hub.errors import NoSuchDatabase
from holdfast.hub.store.engine import hide_password

SECRET = "Tulip9Kettle"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://bob:{SECRET}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?user=bob&password={SECRET}",
        f"postgresql://127.0.0.1:1/db?sslmode=require&sslpassword={SECRET}",
        f"postgresql://127.0.0.1:1/db?PassWord={SECRET}&password={SECRET}",
    ],
)
def test_no_password_of_an_address_is_shown(address: str) -> None:
    shown = hide_password(address)
    assert SECRET not in shown
    assert "***" in shown and "127.0.0.1:1/db" in shown


def test_a_password_with_an_unescaped_sign_is_refused_and_not_shown() -> None:
    with pytest.raises(NoSuchDatabase) as caught:
        hide_password("postgresql://bob:Tul@Kettle@h/db")
    assert "%40" in str(caught.value) and "Kettle" not in str(caught.value)
