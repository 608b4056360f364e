//! Starting a session: settings, grant, workspace, memory and tools, in that order.
//!
//! Nothing is written before everything has been understood.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::approved::LocalSettings;
use super::grant::{self, Authority, BadCapability};
use super::options::{Options, SettingsError, Sources};
use super::sandbox;
use super::tidy::Tidy;
use super::trust::{Judged, Trustee};
use crate::authority::{Asks, Capability, Grant};
use crate::dispatch::{
    Approvals, Desk, DuplicateTool, Executor, Keeping, Limits, Parts, Registry,
    UnknownSelection,
};
use crate::path::{Place, RootName};
use crate::process::{Environment, Interactive, Jobs, environment};
use crate::protocol::Effect;
use crate::session::{ReadState, Session, SessionFile, SessionFileError, SessionId};
use crate::settings::{self, Entries, Extra, Settings, Site, Sourced, Tools};
use crate::store::{Audit, Spill, Store, StoreError, WorkspaceStore};
use crate::syntax::UnknownDialect;
use crate::tool::Clock;
use crate::tools::{self, Kit, Lisp, ShellKit};
use crate::workspace::{Access, Forbids, RealDisk, Root, RootError, Workspace, recover};

/// How long a conversation the session remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// As long as the process.
    Process,
    /// One call.
    OneCall,
    /// From one process to the next, under a name.
    Named(SessionId),
    /// One call that takes back what a session wrote, whoever that was.
    Adopted(SessionId),
}

/// Why a session cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The settings cannot be read.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Some capabilities mean nothing.
    #[error("the settings are wrong; nothing was started\n{}", lines(.0))]
    Capabilities(Vec<BadCapability>),
    /// `lisp.dialects` names an unknown dialect.
    #[error("the settings are wrong; nothing was started\n{site}: {cause}")]
    Dialect {
        /// Where it is written.
        site: Site,
        /// What is wrong.
        cause: UnknownDialect,
    },
    /// `tools` names something unknown.
    #[error("the settings are wrong; nothing was started\n{}{cause}", at(.site.as_ref()))]
    Tools {
        /// Where it is written.
        site: Option<Site>,
        /// What is wrong.
        cause: UnknownSelection,
    },
    /// Two tools have one name.
    #[error(transparent)]
    Duplicate(#[from] DuplicateTool),
    /// The workspace cannot be opened.
    #[error("the workspace cannot be opened")]
    Workspace(#[from] RootError),
    /// killick's own files cannot be used.
    #[error("killick's own files cannot be used")]
    Store(#[from] StoreError),
    /// The named session cannot be continued.
    #[error("the session cannot be continued")]
    Session(#[from] SessionFileError),
}

fn lines(wrong: &[BadCapability]) -> String {
    wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn at(site: Option<&Site>) -> String {
    site.map_or_else(String::new, |site| format!("{site}: "))
}

impl StartError {
    /// Returns whether the command line or the settings are at fault.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Dialect { .. }
            | Self::Settings(_)
            | Self::Capabilities(_)
            | Self::Tools { .. }
            | Self::Workspace(_) => true,
            Self::Duplicate(_) | Self::Store(_) | Self::Session(_) => false,
        }
    }
}

/// A session that runs tools.
#[derive(Debug)]
pub struct App {
    /// Runs calls.
    pub executor: Executor,
    /// Keeps killick's own files from growing for ever.
    pub tidy: Tidy,
    file: Option<SessionFile>,
}

/// What a session here would hold, before any of it is used.
#[derive(Debug)]
pub struct Ground {
    /// The settings in force.
    pub settings: Settings,
    /// The project's settings files, and how they were judged.
    pub judged: Vec<Judged>,
    /// What the session holds.
    pub grant: Grant,
    /// What of that a person must confirm.
    pub asks: Asks,
    lisp: Lisp,
    pub(super) store: Store,
    pub(super) options: Options,
}

impl Ground {
    /// Reads the settings and meets the grants; writes nothing.
    pub fn survey(options: Options) -> Result<Self, StartError> {
        let store = Store::open(options.state.clone())?;
        let read = options.read(&store)?;
        let Authority { grant, asks } =
            grant::read(&read.settings, &canonical(&options.workspace))
                .map_err(StartError::Capabilities)?;
        let lisp = lisp(&read.settings)?;
        let (settings, judged) = (read.settings, read.judged);
        Ok(Self { settings, judged, grant, asks, lisp, store, options })
    }

    /// Returns what gives and takes trust in the project's settings.
    pub fn trustee(options: &Options) -> Result<Trustee, StartError> {
        let store = Store::open(options.state.clone())?;
        Ok(Trustee::new(store, options.project_files().to_vec()))
    }

    /// Opens the workspace and the extra roots; an extra root that is not there is told and left out.
    pub fn workspace(&self) -> Result<Workspace, StartError> {
        let main = Root::open(RootName::workspace(), &self.options.workspace, Access::Write)?;
        let mut others = Vec::new();
        for extra in &self.settings.workspace_extra.value {
            match open_extra(main.path(), extra) {
                Ok(root) => others.push(root),
                Err(error) => {
                    let cause = &error.source;
                    (self.options.warn)(&format!("{}: {error}: {cause}", extra.path.site));
                }
            }
        }
        Ok(Workspace::open(main, others))
    }

    /// Returns the folder that the session works in.
    pub fn workspace_path(&self) -> &Path {
        &self.options.workspace
    }

    /// Returns what a named session knows, or nothing where there is no such session.
    pub fn memory(&self, id: &SessionId) -> Result<Option<ReadState>, StartError> {
        let store = self.session_store(&self.workspace()?)?;
        if store.session(id.as_str())?.is_none() {
            return Ok(None);
        }
        Ok(Some(SessionFile::open(&store, id)?.1))
    }

    /// Returns the part of killick's own files that is about this workspace.
    pub fn workspace_store(&self, workspace: &Workspace) -> WorkspaceStore {
        self.store.workspace(workspace.main_folder())
    }

    /// Returns the state folder that keeps named sessions, if it is not the common one.
    pub(super) fn sessions(&self) -> Result<Option<Store>, StoreError> {
        let folder = self.settings.session_dir.value.as_ref();
        folder.map(|dir| Store::open(self.options.workspace.join(dir))).transpose()
    }

    /// Returns where the named sessions of this workspace are kept.
    fn session_store(&self, workspace: &Workspace) -> Result<WorkspaceStore, StoreError> {
        let store = self.sessions()?.unwrap_or_else(|| self.store.clone());
        Ok(store.workspace(workspace.main_folder()))
    }

    /// Returns what keeps killick's own files from growing.
    fn tidy(&self) -> Result<Tidy, StoreError> {
        let stores = std::iter::once(self.store.clone()).chain(self.sessions()?).collect();
        Ok(Tidy { stores, keep_days: self.settings.keep_days.value })
    }

    /// Finishes what an interrupted session left, where this one may write at all.
    fn recover(&self, store: &WorkspaceStore) {
        let may_write = [Capability::FileWrite, Capability::FileEdit];
        if !may_write.iter().any(|capability| self.grant.is_held(capability)) {
            return;
        }
        match recover(&RealDisk, store) {
            Err(error) => (self.options.warn)(&format!(
                "an interrupted write cannot be recovered: {error}"
            )),
            Ok(recovered) => {
                for place in recovered.iter().flat_map(|recovery| &recovery.foreign) {
                    (self.options.warn)(&format!(
                        "{place} was part of an interrupted write and has been changed since; it was left as it is"
                    ));
                }
            }
        }
    }

    /// Checks that the settings name tools that there are.
    pub fn check_tools(&self) -> Result<(), StartError> {
        let workspace = self.workspace()?;
        let session = Arc::new(Session::new(SessionId::one_call(), ReadState::default()));
        let forbids = self.forbids(&workspace, None);
        registry(&Arc::new(kit(self, workspace, forbids, session)), &self.settings).map(drop)
    }

    /// Returns the places that no file tool may touch.
    fn forbids(&self, workspace: &Workspace, spill: Option<Place>) -> Forbids {
        let sessions = self.sessions().ok().flatten();
        let own = std::iter::once(self.store.path()).chain(sessions.as_ref().map(Store::path));
        Forbids {
            state: own.filter_map(|path| workspace.place_of(&canonical(path))).collect(),
            readable: spill.into_iter().collect(),
            programs: Vec::new(),
        }
    }

    /// Returns what has a person confirm calls, and where an answer of «always» is kept.
    fn approvals(&self, desk: Desk) -> Approvals {
        let keeping = match &self.options.sources {
            Sources::Only(_) | Sources::None => Keeping::Nowhere,
            Sources::Layers => {
                let [_, (_, local)] = self.options.project_files();
                Keeping::By(Arc::new(LocalSettings::new(self.store.clone(), &local)))
            }
        };
        Approvals::new(self.asks.clone(), desk, keeping, self.options.warn)
    }

    fn tell_inert(&self) {
        for inert in &self.settings.inert {
            (self.options.warn)(&format!("{inert}; see `killick trust`"));
        }
    }
}

/// Returns what the settings say of Lisp source.
fn lisp(settings: &Settings) -> Result<Lisp, StartError> {
    let mut lisp = Lisp::default();
    for (name, extensions) in &settings.lisp_dialects.value {
        for extension in extensions {
            lisp.dialects
                .add(&name.value, &extension.value)
                .map_err(|cause| StartError::Dialect { site: name.site.clone(), cause })?;
        }
    }
    let indent = settings.lisp_indent.value.iter();
    lisp.indent =
        indent.map(|(head, n)| (head.clone(), u8::try_from(*n).unwrap_or(u8::MAX))).collect();
    Ok(lisp)
}

fn open_extra(workspace: &Path, extra: &Extra) -> Result<Root, RootError> {
    let folder = workspace.join(&extra.path.value);
    let name = canonical(&folder);
    let access = match extra.access {
        settings::Access::Read => Access::Read,
        settings::Access::Write => Access::Write,
    };
    Root::open(RootName::absolute(&name.to_string_lossy()), &folder, access)
}

pub(super) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl App {
    /// Returns the tools that a session here would offer; writes nothing.
    pub fn registry(options: Options) -> Result<Registry, StartError> {
        let ground = Ground::survey(options)?;
        ground.tell_inert();
        let workspace = ground.workspace()?;
        let session = Arc::new(Session::new(process_id(Clock::system()), ReadState::default()));
        let forbids = ground.forbids(&workspace, None);
        registry(&Arc::new(kit(&ground, workspace, forbids, session)), &ground.settings)
    }

    /// Starts a session in which nobody can be asked.
    pub fn start(options: Options, kind: SessionKind) -> Result<Self, StartError> {
        Self::start_with(options, kind, Desk::Nobody)
    }

    /// Starts a session whose calls are confirmed at `desk`.
    pub fn start_with(
        options: Options,
        kind: SessionKind,
        desk: Desk,
    ) -> Result<Self, StartError> {
        let clock = Clock::system();
        let ground = Ground::survey(options)?;
        ground.tell_inert();
        let workspace = ground.workspace()?;
        let of_workspace = ground.workspace_store(&workspace);
        ground.recover(&of_workspace);
        let (session, file) = match kind {
            SessionKind::Process => {
                (Session::new(process_id(clock), ReadState::default()), None)
            }
            SessionKind::OneCall => (Session::new(one_call(), ReadState::default()), None),
            SessionKind::Adopted(id) => (Session::new(id, ReadState::default()), None),
            SessionKind::Named(id) => {
                let (file, state) = SessionFile::open(&ground.session_store(&workspace)?, &id)?;
                (Session::new(id, state), Some(file))
            }
        };
        let spill = Spill::new(&ground.store, session.id().as_str());
        let (workspace, spill_place) = with_spill(workspace, &spill);
        let forbids = ground.forbids(&workspace, spill_place);
        let session = Arc::new(session);
        let kit = Arc::new(kit(&ground, workspace, forbids, Arc::clone(&session)));
        ground.forestall(&kit.sandbox)?;
        let registry = Arc::new(registry(&kit, &ground.settings)?);
        let executor = Executor::new(Parts {
            registry,
            grant: Arc::clone(&kit.grant),
            approvals: ground.approvals(desk),
            session,
            audit: Arc::new(Audit::new(&of_workspace)),
            spill: Arc::new(spill),
            limits: Limits { output_chars: kit.output_chars },
            clock,
            warn: ground.options.warn,
        });
        Ok(Self { executor, tidy: ground.tidy()?, file })
    }

    /// Keeps what a call did for the next process of a named session.
    pub fn keep(&mut self, effects: &[Effect]) -> Result<(), StartError> {
        match &mut self.file {
            None => Ok(()),
            Some(file) => Ok(file.append(effects)?),
        }
    }
}

/// Adds the folder of the session's long results as a root that may be read.
///
/// Where the state cannot be written there will be no such results.
fn with_spill(workspace: Workspace, spill: &Spill) -> (Workspace, Option<Place>) {
    let Ok(folder) = spill.folder() else { return (workspace, None) };
    let path = canonical(folder.path());
    let name = RootName::absolute(&path.to_string_lossy());
    match Root::open(name, &path, Access::Read) {
        Err(_) => (workspace, None),
        Ok(root) => {
            let workspace = workspace.with_root(root);
            let place = workspace.place_of(&path);
            (workspace, place)
        }
    }
}

fn kit(ground: &Ground, workspace: Workspace, forbids: Forbids, session: Arc<Session>) -> Kit {
    Kit {
        session,
        store: ground.workspace_store(&workspace),
        grant: Arc::new(ground.grant.clone()),
        sandbox: sandbox::of(ground, &workspace, &forbids),
        forbids,
        lisp: ground.lisp.clone(),
        shell: shell(ground),
        jobs: Jobs::default(),
        output_chars: usize::try_from(ground.settings.output_chars.value).unwrap_or(usize::MAX),
        workspace,
    }
}

/// Returns how the settings have commands run.
fn shell(ground: &Ground) -> ShellKit {
    let settings = &ground.settings;
    let names = |lists: &[Sourced<Entries>]| -> Vec<String> {
        lists.iter().flat_map(|list| &list.value).map(|name| name.value.clone()).collect()
    };
    let wanted = Environment {
        pass: names(&settings.bash_env_pass),
        set: settings.bash_env_set.value.clone(),
    };
    ShellKit {
        program: settings.bash_shell.value.clone(),
        timeout_s: settings.bash_timeout_seconds.value,
        interactive: Interactive {
            add: names(&settings.bash_interactive_add),
            allow: names(&settings.bash_interactive_allow),
        },
        environment: environment(ground.options.environment.iter().cloned(), &wanted),
    }
}

fn registry(kit: &Arc<Kit>, settings: &Settings) -> Result<Registry, StartError> {
    let all = Registry::new(tools::ALL.iter().map(|make| make(kit)).collect())?;
    match &settings.tools.value {
        Tools::All => Ok(all),
        Tools::Named(names) => {
            let selection: Vec<String> = names.iter().map(|name| name.value.clone()).collect();
            all.select(&selection).map_err(|cause| {
                let at = names.iter().find(|name| name.value == cause.name);
                StartError::Tools { site: at.map(|name| name.site.clone()), cause }
            })
        }
    }
}

/// Names a session that lasts as long as its process.
fn process_id(clock: Clock) -> SessionId {
    let (now, process) = (clock.now().as_millisecond(), std::process::id());
    SessionId::new(&format!("process-{now}-{process}")).unwrap_or_else(one_call)
}

/// Names the session of single calls, which remember nothing but share their spill.
fn one_call() -> SessionId {
    SessionId::one_call()
}
