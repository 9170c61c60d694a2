//! The Python door: a repository that answers the methods of [`tract::deeds`], as JSON texts.
//!
//! What is pleasant to call is written in Python (`lib/tract/`), over this. Deliberately absent: any method of its own.

mod host;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::json;
use tract::Error;
use tract::deeds::{ApiError, At, WorkProgress, described, method};
use tract::model::RefName;
use tract::repo::{On, Repo, is_address};

use host::Door;

create_exception!(
    _tract,
    Fault,
    PyException,
    "What went wrong, as JSON; `tract` makes a TractError of it."
);

/// How often it is looked whether somebody pressed Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// An open repository. One call at a time; the others wait without the interpreter's lock.
#[pyclass(name = "Repo", module = "tract._tract", frozen)]
struct OpenRepo {
    /// None once it is closed.
    repo: Mutex<Option<Repo>>,
    door: Door,
    place: Option<PathBuf>,
    /// The process that opened it. A database must not be used across a fork.
    process: u32,
}

fn raised(fault: ApiError) -> PyErr {
    Fault::new_err(json!(fault).to_string())
}

impl OpenRepo {
    fn of(repo: Result<Repo, Error>, door: Door) -> PyResult<Self> {
        let mut repo = repo.map_err(|error| raised(error.into()))?;
        door.sign_on(&mut repo);
        Ok(Self {
            place: repo.place().map(Path::to_owned),
            repo: Mutex::new(Some(repo)),
            door,
            process: std::process::id(),
        })
    }

    /// Answers; a panic is a bug, and is told as one.
    fn answer(
        &self,
        name: &str,
        params: &str,
        on: Option<&str>,
        goes_on: &mut dyn FnMut(WorkProgress) -> bool,
    ) -> Result<String, ApiError> {
        if name == "describe" {
            return Ok(described().to_string());
        }
        let method = method(name)?;
        if self.process != std::process::id() {
            let fault = ApiError::refused("the repository was opened before this process began");
            return Err(fault.with_hint("open it again after the fork"));
        }
        let on = match on {
            Some(branch) => On::Branch(RefName::branch(branch)?),
            None => On::Head,
        };
        let mut held = self.repo.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(repo) = held.as_ref() else {
            let fault = ApiError::refused("the repository is closed");
            return Err(fault.with_hint("tract.open(…) opens it again"));
        };
        let done = catch_unwind(AssertUnwindSafe(|| {
            let mut at = At::new(repo, on, &self.door);
            at.goes_on = Box::new(goes_on);
            (method.call)(params, &mut at)
        }));
        match done {
            Ok(answer) => Ok(answer?.json.text().to_owned()),
            Err(_) => {
                *held = None;
                let fault = ApiError::refused(format!(
                    "{name}: tract made a mistake, and has closed the repository"
                ));
                Err(fault.with_hint("what was committed is there; please tell us of it"))
            }
        }
    }
}

#[pymethods]
impl OpenRepo {
    /// Opens the repository of a directory; with `find`, that of the nearest one above.
    #[staticmethod]
    fn open(py: Python<'_>, dir: PathBuf, find: bool) -> PyResult<Self> {
        let door = Door::read().map_err(raised)?;
        let visitor = door.visitor();
        let repo = py.detach(|| {
            if find {
                Repo::find_as(&dir, &visitor)
            } else {
                Repo::open_as(&dir, &visitor)
            }
        });
        Self::of(repo, door)
    }

    /// Makes a repository in a directory, or opens the one that is there.
    #[staticmethod]
    fn init(py: Python<'_>, dir: PathBuf) -> PyResult<Self> {
        let door = Door::read().map_err(raised)?;
        let visitor = door.visitor();
        let made = py.detach(|| {
            if !is_address(&dir) {
                std::fs::create_dir_all(&dir).map_err(Error::io(&dir))?;
            }
            Repo::init_as(&dir, &visitor)
        });
        Self::of(made.map(|(repo, _)| repo), door)
    }

    /// Makes a repository in memory.
    #[staticmethod]
    fn ephemeral() -> PyResult<Self> {
        Self::of(Repo::ephemeral(), Door::read().map_err(raised)?)
    }

    /// Its place; none in memory.
    #[getter]
    fn place(&self) -> Option<PathBuf> {
        self.place.clone()
    }

    /// Answers a method. `progress` is called with what is done and with the whole, where that is known.
    #[pyo3(signature = (method, params, on=None, progress=None))]
    fn call(
        &self,
        py: Python<'_>,
        method: &str,
        params: &str,
        on: Option<&str>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let mut interrupt = None;
        let answer = py.detach(|| {
            let mut last = Instant::now();
            let mut goes_on = |work: WorkProgress| {
                if last.elapsed() < LOOK_EVERY {
                    return interrupt.is_none();
                }
                last = Instant::now();
                let told = Python::attach(|py| {
                    py.check_signals()?;
                    if let Some(progress) = &progress {
                        progress.call1(py, (work.done, work.total))?;
                    }
                    Ok(())
                });
                interrupt = interrupt.take().or(told.err());
                interrupt.is_none()
            };
            self.answer(method, params, on, &mut goes_on)
        });
        match interrupt {
            Some(interrupt) => Err(interrupt),
            None => answer.map_err(raised),
        }
    }

    /// Closes it. What is asked of it later is refused.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut held = self.repo.lock().unwrap_or_else(PoisonError::into_inner);
            let repo = held.take();
            if self.process != std::process::id() {
                // The database is still that of the process before.
                std::mem::forget(repo);
            }
        });
    }
}

impl Drop for OpenRepo {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            let held = self.repo.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(held.take());
        }
    }
}

/// The methods as data, as JSON.
#[pyfunction]
fn describe() -> String {
    described().to_string()
}

/// The extension module.
#[pymodule]
fn _tract(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Fault", module.py().get_type::<Fault>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<OpenRepo>()?;
    module.add_function(wrap_pyfunction!(describe, module)?)
}
