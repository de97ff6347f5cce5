import time
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from sqlalchemy import text

from db.comparisons import comparison, insert_comparison
from db.discretion import without_machine, without_places
from db.errors import NotFound
from db.session import Database
from db.shares import links, look_up_link, make_link, open_link, revoke_link
from db.views import ViewState
from profiles.compilation import Compilation, GraphBreak
from profiles.results import Finding, Receipt
from tests.db.examples import H200, measure, measured

# No file of the project spells out such a path.
HOME, ON_A_MAC, ROOTS = (f"/{place}" for place in ("home/alice", "Users/alice", "root"))


@pytest.fixture
def comparison_id(database: Database) -> int:
    return measure(database, measured("naive"), name="Ladder").comparison_id


def test_a_link_opens_its_comparison_and_counts(database: Database, comparison_id: int) -> None:
    token, link = make_link(database, comparison_id, note="have a look", created_by="ada")
    assert (link.opened, link.hint, link.note, link.created_by) == (0, token[-4:], "have a look", "ada")
    for count in (1, 2):
        shared = open_link(database, token)
        assert shared is not None
        assert (shared.comparison.id, shared.comparison.name, shared.link.opened) == (comparison_id, "Ladder", count)
    looked_up = look_up_link(database, token)
    assert looked_up is not None
    assert looked_up.link.opened == 2


def test_two_links_to_a_comparison_open_with_a_view_each_of_their_own(database: Database, comparison_id: int) -> None:
    views = (ViewState(base="naive", lanes=("A",), zoom="1~2"), ViewState(base="sdpa_flash", by="call_time"))
    tokens = [make_link(database, comparison_id, view=view)[0] for view in views]
    for open_ in (open_link, look_up_link):
        opened = [open_(database, token) for token in tokens]
        assert [shared and shared.comparison.view for shared in opened] == list(views)
        assert [shared and shared.link.view for shared in opened] == list(views)
    assert [link.view for link in links(database, comparison_id)] == list(reversed(views))
    assert comparison(database, comparison_id).view == ViewState()


def test_a_link_made_without_a_view_opens_with_the_comparison_s_own(database: Database) -> None:
    view = ViewState(base="B", lanes=("A",), zoom="1~2")
    job = measure(database, measured("naive"))
    with database.begin() as session:
        made = insert_comparison(session, [(job.trials[0].id, "naive")], name="Viewed", created_by=None, view=view)
    shared = open_link(database, make_link(database, made)[0])
    assert shared is not None
    assert shared.comparison.view == view


def test_a_token_has_192_random_bits_and_is_stored_nowhere(database: Database, comparison_id: int) -> None:
    tokens = {make_link(database, comparison_id)[0] for _ in range(20)}
    assert len(tokens) == 20
    assert all(len(token) == 32 for token in tokens)
    with database.read() as session:
        stored = str(session.execute(text("SELECT * FROM share_link")).all())
    assert not any(token in stored for token in tokens)


@pytest.mark.parametrize("token", ["", "x", "a" * 32, "\0", "\ud800", "' OR 1=1 --"])
def test_an_unknown_token_opens_nothing(database: Database, comparison_id: int, token: str) -> None:
    make_link(database, comparison_id)
    assert open_link(database, token) is None
    assert look_up_link(database, token) is None


def test_a_revoked_link_opens_nothing_and_stays_listed(database: Database, comparison_id: int) -> None:
    token, link = make_link(database, comparison_id)
    other, _ = make_link(database, comparison_id)
    revoke_link(database, link.id)
    assert open_link(database, token) is None
    assert look_up_link(database, token) is None
    assert open_link(database, other) is not None
    kept, revoked = links(database, comparison_id)
    assert (kept.revoked_at, revoked.id) == (None, link.id)
    assert revoked.revoked_at is not None
    revoke_link(database, link.id)
    assert links(database, comparison_id)[1] == revoked


def test_a_link_expires_by_the_database_s_clock(database: Database, comparison_id: int) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.5)
    token, link = make_link(database, comparison_id, expires_at=soon)
    assert link.expires_at == soon
    assert open_link(database, token) is not None
    time.sleep(0.6)
    assert open_link(database, token) is None
    assert look_up_link(database, token) is None


def test_hosts_are_shown_only_where_the_link_says_so(database: Database, comparison_id: int) -> None:
    for show_hosts, host in [(False, None), (True, "bench-3")]:
        token, _ = make_link(database, comparison_id, show_hosts=show_hosts)
        shared = open_link(database, token)
        assert shared is not None
        run = shared.comparison.entries[0].run
        assert run is not None
        assert run.conditions is not None
        assert run.conditions.host == host
        assert run.metrics == measured("naive").metrics


def test_links_to_nothing_are_not_found(database: Database) -> None:
    with pytest.raises(NotFound, match="no comparison 3"):
        make_link(database, 3)
    with pytest.raises(NotFound, match="no link 3"):
        revoke_link(database, 3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"No such file: '{HOME}/.cache/fusescope/x.json'", "No such file: '…/fusescope/x.json'"),
        ("# kernel path: /tmp/torchinductor_alice/ab/cab.py", "# kernel path: …/ab/cab.py"),
        ("in /tmp/torchinductor_alice", "in /tmp/torchinductor_…"),
        (f"{ON_A_MAC} and {HOME} and {ROOTS}/x", "~ and ~ and ~/x"),
        (r"C:\Users\alice\x.py", r"~\x.py"),
        ("a graph break (/srv/alice/lib/torch/nn/functional.py:12)", "a graph break (…/nn/functional.py:12)"),
        ("145,000 tokens/s at https://example.org/a/b/c, 3/4/5 // 2, /proc/meminfo", None),
        ("void at::native::vectorized<4, add>(int/*n*/)", None),
    ],
)
def test_of_a_path_only_its_end_is_told(text: str, told: str | None) -> None:
    assert without_places(text) == (text if told is None else told)


@pytest.mark.parametrize("repeated", ["a", "_1", "_1.1", "-.a", "/a", "~/", "C:", "\\a", "://", "/x(1"])
def test_a_text_of_any_length_is_told_at_once(repeated: str) -> None:
    text, begun = repeated * 50_000 + ".pt.trace.json", time.perf_counter()
    without_machine(text)
    assert time.perf_counter() - begun < 2.0


def test_no_text_of_a_shared_run_tells_whose_account_it_ran_under(database: Database) -> None:
    path = f"{HOME}/src/model/attention.py"
    run = msgspec.structs.replace(
        measured("naive"),
        notes=(f"graph_time: {path} waits",),
        compilation=Compilation(graphs=2, breaks=(GraphBreak(reason="print", where=f"{path}:12"),)),
        dispatch=(Receipt(mechanism="compile", asked="inductor", ran="eager", refusals={"inductor": f"see {path}"}),),
        trace_health=(Finding(code="odd", message=f"torchinductor_alice in {path}", count=1),),
    )
    job = measure(database, run, environment=H200)
    token, _ = make_link(database, job.comparison_id)
    for opened in (open_link(database, token), look_up_link(database, token)):
        assert opened is not None
        shown = opened.comparison.entries[0].run
        assert shown is not None
        assert b"alice" not in msgspec.json.encode(shown)
        assert shown.compilation is not None
        assert shown.compilation.breaks[0].where == "…/attention.py:12"
        assert shown.metrics == run.metrics
    (kept,) = comparison(database, job.comparison_id).entries
    assert kept.run == run
