"""A process that writes to a database as a worker does: `python -m tests.db.writer URL JOBS`."""

import sys

from db.jobs import submit_job
from db.runs import store_run
from db.session import open_database
from db.trials import beat, claim_trial, finish_trial
from db.views import TrialStatus
from tests.db.examples import CPU, ladder, measured

if __name__ == "__main__":
    database = open_database(sys.argv[1])
    database.upgrade()
    for number in range(int(sys.argv[2])):
        job = submit_job(database, ladder("naive", "sdpa_flash", name=f"Job {number}"))
        trial_id = job.trials[0].id
        owner = {"worker": "w", "attempt": claim_trial(database, trial_id, worker="w")}
        for variant in ("naive", "sdpa_flash"):
            assert beat(database, trial_id, **owner).owned
            assert store_run(database, trial_id=trial_id, run=measured(variant), environment=CPU, **owner)
        assert finish_trial(database, trial_id, status=TrialStatus.DONE, **owner)
    database.close()
