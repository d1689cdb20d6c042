/** What the routes answer. `null` is: not known. */

export type Zone = "green" | "yellow" | "orange" | "red";

export interface Listed {
  count: number;
  total: number;
  limit: number;
  offset: number;
}

export interface WindowState {
  agent_id: string;
  session_id: string | null;
  agent_type: string | null;
  updated_at: string | null;
  zone: Zone | null;
  alert: string | null;
  room_tokens: number | null;
  estimated: boolean;
  velocity_tokens_per_op: number | null;
  ops_left: number | null;
  ops_left_low: number | null;
  ops_left_high: number | null;
  minutes_left: number | null;
  forecast_basis: string | null;
  checkpoint_ms: number | null;
  checkpoint_trigger: string | null;
  used_tokens: number | null;
  edge_tokens: number | null;
  used_ratio: number | null;
  basis: string | null;
  compacting: boolean;
  model: string | null;
  client_version: string | null;
  compactions: number | null;
  project_id: string | null;
  project_path: string | null;
  project_name: string | null;
  machine: string | null;
  title: string | null;
  asked: string | null;
  trend: number[];
  is_main: boolean;
}

export interface Project {
  id: string;
  path: string;
  name: string | null;
}

export interface Today {
  since: string;
  live_windows: number;
  compactions: number;
  checked: number;
  not_found: number | null;
  restored: number | null;
  checkpoints: number;
  checkpoints_changed: number | null;
}

export interface Readings {
  edge_tokens: number | null;
  zones: Record<"yellow" | "orange" | "red", number>;
  first_step: number | null;
  last_step: number | null;
  total: number;
  is_thinned: boolean;
  step: number[];
  at_ms: number[];
  used_tokens: number[];
  limit_tokens: (number | null)[];
  compactions: CompactionMark[];
  alerts: AlertMark[];
  checkpoints: CheckpointMark[];
}

export interface CompactionMark {
  number: number;
  step: number | null;
  at_ms: number;
  before_tokens: number | null;
  after_tokens: number | null;
}

export interface AlertMark {
  step: number | null;
  at_ms: number;
  level: string;
  zone: string | null;
  used_ratio: number | null;
}

export interface CheckpointMark {
  id: string;
  step: number | null;
  at_ms: number;
  trigger: string | null;
}

export interface Turn {
  /** Not known where the transcript is not on this machine. */
  number: number | null;
  window: number | null;
  asked: string;
  at: string | null;
  step: number | null;
  steps: number | null;
  tokens_added: number | null;
  said: string | null;
  edited: string[];
  runs: { command: string; passed: boolean | null }[];
  questions: { text: string; answer: string | null }[];
  is_cut: boolean;
  is_interrupted: boolean;
  is_waiting: boolean;
  is_taken_back: boolean;
}

export interface Turns extends Listed {
  is_available: boolean;
  note: string | null;
  turns: Turn[];
}

interface Origin {
  at: string | null;
  step: number | null;
  turn: number | null;
}

/** `since` is null where git has none. */
export interface FileDiff {
  path: string;
  since: string | null;
  diff: string;
}

export interface SessionState {
  is_available: boolean;
  note: string | null;
  step: number | null;
  call: { tool: string; what: string; at: string | null; step: number | null } | null;
  failures: ({ command: string; lines: string[] } & Origin)[];
  tasks: ({ text: string; status: string; source: string } & Origin)[];
  questions: ({ text: string } & Origin)[];
  rules: ({ text: string; reason: string | null } & Origin)[];
  decisions: ({ text: string } & Origin)[];
  files: { path: string; reads: number; edits: number; is_gone: boolean }[];
  agents: { kind: string; asked: string; status: string; answer: string }[];
}

export interface CompactionSummary {
  session_id: string;
  agent_id: string | null;
  project_id: string | null;
  number: number;
  at: string | null;
  step: number | null;
  trigger: string | null;
  before_tokens: number | null;
  after_tokens: number | null;
  edge_tokens: number | null;
  /** False until its summary was compared. */
  is_read: boolean;
  /** Else `restored` is what would have been. */
  was_given: boolean;
  items: number | null;
  not_found: number | null;
  restored: number | null;
}

/** What the last compactions of this machine left out, and how far the past is read. */
export interface History {
  progress: {
    sessions: number;
    read: number;
    compactions: number;
    compared: number;
    skipped_lines: number;
  };
  words: string | null;
  compactions: {
    session_id: string;
    title: string;
    number: number;
    at: string | null;
    items: number | null;
    not_found: number | null;
    messages: number | null;
    messages_not_found: number | null;
  }[];
}

export interface HistorySession {
  id: string;
  project_id: string | null;
  project: string | null;
  title: string | null;
  agent: string | null;
  has_hooks: boolean;
  started_at: string;
  last_at: string | null;
  ended_at: string | null;
  compactions: number;
  calls: number;
  failed: number;
  steps: number | null;
  tokens: number | null;
  cost: number | null;
}

export interface Tokens {
  id: string | null;
  name: string;
  input: number;
  output: number;
  cache_read: number;
  cache_written: number;
  cost: number | null;
}

export interface Usage {
  total: Tokens;
  days: Tokens[];
  sessions: Tokens[];
  projects: Tokens[];
  agents: Tokens[];
  models: Tokens[];
  is_priced: boolean;
}

export interface MachineHealth {
  level: "ok" | "warn" | "bad";
  worst: string;
  disk: { kind: string; bytes: number; files: number }[];
  disk_free_bytes: number;
  hooks: { last_at: string | null; last_event: string | null; sessions: number; errors: number };
  errors: { at: string; place: string; message: string }[];
  watcher: string | null;
  ingest_lag_ms: number;
  set_aside: { source: string; error: string; since: string | null; tries: number }[];
  lines: number;
  skipped_lines: number;
  unread_transcripts: number;
  archived_sessions: number;
  archived_bytes: number;
  versions: Record<string, string>;
}

/** `share` of it is held by the summary, most of it in `passage`. */
export interface MeasuredItem extends Origin {
  kind: string;
  text: string;
  reason: string | null;
  share: number;
  is_found: boolean;
  passage: string;
  by_meaning: boolean;
  restored_in: "brief" | "second_brief" | null;
  line: number | null;
  why_not: string | null;
}

export interface BriefLine extends Origin {
  line: string;
  reason: string;
}

export interface Compaction extends Omit<
  CompactionSummary,
  "is_read" | "was_given" | "items" | "not_found" | "restored"
> {
  total: number;
  parts: {
    always_tokens: number | null;
    summary_tokens: number | null;
    restored_tokens: number | null;
    brief_tokens: number | null;
  } | null;
  is_available: boolean;
  note: string | null;
  was_given: boolean;
  counts: Record<"items" | "not_found" | "restored", number | null>;
  items: MeasuredItem[];
  brief: BriefLine[];
  second_brief: BriefLine[];
  summary: string | null;
  instructions: string | null;
}

export interface Checkpoint {
  id: string;
  project: string;
  project_id: string | null;
  session_id: string;
  agent_id: string | null;
  at: string | null;
  trigger: string | null;
  number: number | null;
  summary: string | null;
  parent: string | null;
  is_verified: boolean | null;
  content_hash: string | null;
  path: string | null;
  used_ratio: number | null;
}

export interface CheckpointDetail extends Checkpoint {
  sections: { heading: string; items: string[] }[];
  text: string;
  lineage: string[];
  ok: boolean;
  findings: { part: string; words: string }[];
  notes: string[];
  resume: string;
}

export interface CheckpointDiff {
  older: Checkpoint | null;
  newer: Checkpoint;
  sections: { heading: string; added: string[]; removed: string[]; unchanged: string[] }[];
}

export interface SearchHit {
  id: string;
  kind: string;
  score: number;
  parts: Record<string, number>;
  title: string | null;
  snippet: string;
  by: string | null;
  tier: string | null;
  project: string;
  session: string | null;
  agent: string | null;
  source: string | null;
  turns: number[];
  at: string | null;
}

export interface SearchAnswer {
  results: SearchHit[];
  mode: string;
  notes: string[];
}

export interface SearchItem {
  id: string;
  kind: string;
  session: string | null;
  source: string | null;
  turns: number[];
  gone: boolean;
  text: string;
  more: boolean | number | null;
  notes: string[];
}

export interface Setting {
  name: string;
  value: unknown;
  from: string;
  line: number | null;
  default: unknown;
  set_by: string;
  meaning: string;
  variable: string | null;
  low: number | null;
  high: number | null;
  choices: string[];
  overruled: { value: unknown; from: string; line: number | null }[];
  example: string | null;
}

export interface Settings {
  settings: Setting[];
  files: { path: string; kind: string; is_there: boolean }[];
  errors: { words: string; file: string | null; line: number | null }[];
}

export interface BudgetItem {
  id: string;
  section: string;
  text: string;
  reason: string;
  tokens: number;
  is_pinned: boolean;
  is_never_cut: boolean;
  can_be_evicted: boolean;
}

export interface BudgetPart {
  name: string;
  share: number;
  priority: number;
  share_tokens: number;
  spent_tokens: number;
  borrowed_tokens: number;
  lent_tokens: number;
  items: BudgetItem[];
}

export interface Pin {
  id: string;
  text: string;
  compartment: string | null;
  scope: string;
  by: string;
}

export interface Budget {
  session_id: string;
  role: string | null;
  max_tokens: number;
  spent_tokens: number;
  model_tokens: number | null;
  frame_tokens: number;
  parts: BudgetPart[];
  pins: Pin[];
  evicted: { id: string; text?: string }[];
}

export interface BoardMessage {
  id: string;
  project_id: string | null;
  from_agent_id: string;
  to_agent_id: string | null;
  topic: string;
  payload: Record<string, unknown>;
  read_by: string[];
  said_to: string[];
  state: string;
  created_at: string;
  expires_at: string;
}

export interface MessageList extends Listed {
  messages: BoardMessage[];
  states: Record<string, number>;
}

export interface Blocking {
  id: string;
  blocked_by: string;
  blocked_agent: string;
  reason: string | null;
  since: string;
}

export interface Claim {
  project_id: string;
  work: string;
  agent_id: string;
  claimed_at: string;
  expires_at: string;
}

export interface Subtask {
  id: string;
  session_id: string;
  agent_type: string | null;
  agent_id: string | null;
  description: string;
  status: string;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
}

export interface Task {
  id: string;
  name: string;
  wave_number: number;
  status: string;
  created_at: string;
  completed_at: string | null;
  subtasks: Subtask[];
}

export interface WorkRequest {
  id: string;
  session_id: string;
  prompt: string;
  status: string;
  created_at: string;
  completed_at: string | null;
  tasks: Task[];
}

export interface Hierarchy extends Listed {
  requests: WorkRequest[];
  project: Project;
  counts: { requests: number; tasks: number; subtasks: number };
}

export interface AuditEvent {
  id: string;
  kind: string;
  session_id: string | null;
  agent_id: string | null;
  at: string;
  body: Record<string, unknown>;
}

export interface LogLine {
  at: string | null;
  level: string;
  place: string;
  message: string;
}

export interface ServerDescription {
  machine: string;
  database: { engine: string; name: string };
  watcher: { words: string; inside: string; since: string | null } | null;
}

export interface ServerHealth {
  status: string;
  version: string;
  database: {
    healthy: boolean;
    error?: string | null;
    writes: { failed: number; last_error: string | null };
  };
  sources: { set_aside: number };
}
