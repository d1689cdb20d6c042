/** What the routes answer, made from their descriptions by `make reference`. */

export interface WindowState {
  status: string;
  recommended_action: string;
  zone: string;
  alert: string | null;
  room_tokens: number | null;
  estimated: boolean;
  velocity_tokens_per_op: number | null;
  ops_left: number | null;
  minutes_left: number | null;
  checkpoint_ms: number | null;
  fits: boolean | null;
  agent_id: string;
  session_id: string;
  agent_type: string | null;
  is_main: boolean;
  updated_at: string | null;
  used_tokens: number;
  compacting: boolean;
  compactions: number;
  edge_tokens: number | null;
  ops_left_low: number | null;
  ops_left_high: number | null;
  used_ratio: number | null;
  pace_ms: number | null;
  basis: string | null;
  forecast_basis: string | null;
  model: string | null;
  client_version: string | null;
  checkpoint_trigger: string | null;
  machine: string | null;
  project_id: string | null;
  project_path: string | null;
  project_name: string | null;
  title: string | null;
  asked: string | null;
  answers: string | null;
  trend: number[];
}

export interface AlertMark {
  step: number | null;
  at_ms: number;
  level: string | null;
  zone: string | null;
  used_ratio: number | null;
  heard: boolean;
}

export interface AuditEvent {
  id: string;
  kind: string;
  session_id: string | null;
  agent_id: string | null;
  body: Record<string, unknown>;
  at: string;
}

export interface Blocking {
  id: string;
  blocked_by: string;
  blocked_agent: string;
  reason: string | null;
  since: string;
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
  set_by: string;
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
  compartment: string;
  scope: string;
  created_ms: number;
  by: string;
}

export interface Budget {
  session_id: string;
  role: string;
  max_tokens: number;
  spent_tokens: number;
  model_tokens: number | null;
  frame_tokens: number;
  parts: BudgetPart[];
  pins: Pin[];
  evicted: string[];
  used_ratio: number;
  estimated: boolean;
  ops_left: number | null;
  ops_left_low: number | null;
  ops_left_high: number | null;
  minutes_left: number | null;
  pace_ms: number | null;
  forecast_basis: string;
}

export interface CheckpointDetail {
  id: string;
  path: string;
  project: string;
  project_id: string;
  session_id: string;
  agent_id: string;
  created: string;
  trigger: string;
  iteration: number;
  summary: string;
  parent: string;
  verified: boolean;
  used_ratio: number | null;
  text: string;
  findings: CheckpointFault[];
}

export interface CheckpointDiff {
  older: Checkpoint | null;
  newer: Checkpoint;
  sections: SectionDiff[];
}

export interface CheckpointFault {
  part: string;
  words: string;
}

export interface CheckpointMark {
  id: string | null;
  step: number | null;
  at_ms: number;
  trigger: string | null;
}

export interface Checkpoint {
  id: string;
  path: string;
  project: string;
  project_id: string;
  session_id: string;
  agent_id: string;
  created: string;
  trigger: string;
  iteration: number;
  summary: string;
  parent: string;
  verified: boolean;
  used_ratio: number | null;
}

export interface Claim {
  project_id: string;
  work: string;
  agent_id: string;
  claimed_at: string;
  expires_at: string;
}

export interface MeasuredItem {
  at: string | null;
  step: number | null;
  turn: number | null;
  kind: string;
  text: string;
  reason: string;
  share: number;
  is_found: boolean;
  passage: string;
  by_meaning: boolean;
  restored_in: string | null;
  line: number | null;
  why_not: string | null;
}

export interface CompactionCounts {
  items: number | null;
  not_found: number | null;
  restored: number | null;
}

export interface Compaction {
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
  is_read: boolean;
  was_given: boolean;
  total: number;
  is_available: boolean;
  note: string | null;
  summary: string | null;
  instructions: string | null;
  parts: CompactionParts;
  counts: CompactionCounts;
  items: MeasuredItem[];
  brief: BriefLine[];
  second_brief: BriefLine[];
}

export interface CompactionMark {
  number: number;
  step: number | null;
  at_ms: number;
  before_tokens: number | null;
  after_tokens: number | null;
}

export interface CompactionParts {
  always_tokens: number | null;
  summary_tokens: number | null;
  restored_tokens: number | null;
  brief_tokens: number | null;
}

export interface CompactionSummary {
  items: number | null;
  not_found: number | null;
  restored: number | null;
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
  is_read: boolean;
  was_given: boolean;
  title: string | null;
}

export interface DatabaseHealth {
  healthy: boolean;
  latencyMs: number;
  capacity_percentage: number;
  error: string | null;
  writes: WriteFigures;
}

export interface Today {
  since: string;
  live_windows: number;
  compactions: number;
  checked: number;
  given: number;
  not_found: number;
  restored: number;
  checkpoints: number;
  checkpoints_changed: number;
}

export interface DiskUse {
  kind: string;
  bytes: number;
  files: number;
}

export interface FailedIngest {
  source: string;
  error: string;
  since: string | null;
  tries: number;
}

export interface FailingCommand {
  at: string | null;
  step: number | null;
  turn: number | null;
  command: string;
  lines: string[];
}

export interface FileDiff {
  path: string;
  since: string | null;
  diff: string;
}

export interface Hierarchy {
  count: number;
  total: number;
  limit: number;
  offset: number;
  hierarchy: HierarchyProject;
  project: Project;
  requests: WorkRequest[];
  stats: ProjectStats;
  counts: HierarchyCounts;
}

export interface HierarchyCounts {
  requests: number;
  tasks: number;
  subtasks: number;
}

export interface HierarchyProject {
  id: string;
  path: string;
  name: string | null;
  metadata: Record<string, unknown>;
  created_at: string;
  updated_at: string;
  requests: WorkRequest[];
}

export interface WorkRequest {
  id: string;
  project_id: string;
  session_id: string;
  prompt: string;
  prompt_type: string;
  status: string;
  metadata: Record<string, unknown>;
  created_at: string;
  completed_at: string | null;
  tasks: Task[];
}

export interface History {
  words: string | null;
  progress: HistoryProgress;
  compactions: PastCompaction[];
}

export interface HistoryProgress {
  sessions: number;
  read: number;
  compactions: number;
  compared: number;
  skipped_lines: number;
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
  compactions: number;
  calls: number;
  failed: number;
  steps: number | null;
  tokens: number | null;
  cost: number | null;
}

export interface HookState {
  installed: boolean;
  last_at: string | null;
  last_event: string | null;
  sessions: number;
  errors: number;
}

export interface LogLine {
  at: string;
  level: string;
  place: string;
  message: string;
}

export interface MachineHealth {
  level: string;
  worst: string;
  disk_free_bytes: number;
  watcher: string | null;
  ingest_lag_ms: number;
  lines: number;
  skipped_lines: number;
  unread_transcripts: number;
  archived_sessions: number;
  archived_bytes: number;
  disk: DiskUse[];
  hooks: HookState;
  errors: LogLine[];
  set_aside: FailedIngest[];
  versions: Record<string, string>;
}

export interface MessageList {
  count: number;
  total: number;
  limit: number;
  offset: number;
  messages: BoardMessage[];
  states: Record<string, number>;
}

export interface Tokens {
  input: number;
  output: number;
  cache_read: number;
  cache_written: number;
  cost: number | null;
  unpriced: number;
  id: string | null;
  name: string;
}

export interface OpenCallNow {
  at: string | null;
  step: number | null;
  turn: number | null;
  tool: string;
  what: string;
}

export interface OpenTask {
  at: string | null;
  step: number | null;
  turn: number | null;
  text: string;
  status: string;
  source: string;
}

export interface OverruledValue {
  value: number | boolean | string;
  origin: string;
  line: number | null;
}

export interface PastCompaction {
  session_id: string;
  project_id: string;
  title: string;
  number: number;
  at: string | null;
  items: number | null;
  not_found: number | null;
  messages: number | null;
  messages_not_found: number | null;
}

export interface PlacedText {
  at: string | null;
  step: number | null;
  turn: number | null;
  text: string;
}

export interface Project {
  id: string;
  path: string;
  name: string | null;
  metadata: Record<string, unknown>;
  created_at: string;
  updated_at: string;
}

export interface ProjectStats {
  project_id: string;
  project_name: string | null;
  path: string;
  total_requests: number;
  total_subtasks: number;
  total_actions: number;
  successful_actions: number;
  avg_duration_ms: number | null;
  last_activity: string;
}

export interface BoardMessage {
  id: string;
  project_id: string | null;
  topic: string;
  priority: number;
  created_at: string;
  expires_at: string;
  from_agent_id: string;
  to_agent_id: string | null;
  message_type: string;
  payload: Record<string, unknown>;
  read_by: string[];
  said_to: string[];
  state: string;
}

export interface Readings {
  limit_tokens: (number | null)[];
  session_id: string;
  agent_id: string | null;
  edge_tokens: number | null;
  first_step: number | null;
  last_step: number | null;
  total: number;
  step: number[];
  at_ms: number[];
  used_tokens: number[];
  zones: ZoneShares;
  compactions: CompactionMark[];
  alerts: AlertMark[];
  checkpoints: CheckpointMark[];
}

export interface BriefLine {
  at: string | null;
  step: number | null;
  turn: number | null;
  line: string;
  reason: string;
}

export interface RuleInForce {
  at: string | null;
  step: number | null;
  turn: number | null;
  text: string;
  reason: string;
  answers: string;
}

export interface RunningWatcher {
  words: string;
  inside: string;
  since: string | null;
}

export interface ScoreParts {
  keyword: number;
  vector: number;
}

export interface SearchHit {
  id: string;
  kind: string;
  score: number;
  title: string;
  snippet: string;
  by: string;
  tier: string;
  project: string;
  session: string;
  agent: string;
  source: string;
  turns: number[];
  uuids: string[];
  at: string;
  parts: ScoreParts;
}

export interface SearchAnswer {
  mode: string;
  notes: string[];
  is_whole: boolean;
  results: SearchHit[];
}

export interface SearchItem {
  id: string;
  kind: string;
  session: string;
  source: string;
  turns: number[];
  gone: boolean;
  text: string;
  more: number;
  notes: string[];
}

export interface SectionDiff {
  heading: string;
  added: string[];
  removed: string[];
  unchanged: string[];
}

export interface ServerDatabase {
  engine: string;
  name: string;
}

export interface ServerDescription {
  database: ServerDatabase;
  version: string;
  machine: string;
  watcher: RunningWatcher | null;
}

export interface ServerHealth {
  status: string;
  timestamp: string;
  version: string;
  database: DatabaseHealth;
  sources: SourceFigures;
  features: Record<string, string>;
}

export interface SessionState {
  session_id: string;
  agent_id: string | null;
  is_available: boolean;
  note: string | null;
  step: number | null;
  at: string | null;
  used_tokens: number | null;
  edge_tokens: number | null;
  estimated: boolean | null;
  call: OpenCallNow | null;
  failures: FailingCommand[];
  tasks: OpenTask[];
  questions: PlacedText[];
  rules: RuleInForce[];
  decisions: PlacedText[];
  files: UsedFile[];
  agents: SubagentReport[];
}

export interface Turn {
  number: number | null;
  window: number;
  asked: string;
  answers: string;
  is_cut: boolean;
  at: string | null;
  step: number | null;
  steps: number | null;
  tokens_added: number | null;
  said: string | null;
  edited: string[];
  interrupted: boolean;
  waits: boolean;
  taken_back: boolean;
  questions: TurnQuestion[];
}

export interface Turns {
  count: number;
  total: number;
  limit: number;
  offset: number;
  session_id: string;
  agent_id: string | null;
  is_available: boolean;
  note: string | null;
  turns: Turn[];
}

export interface Settings {
  errors: string[];
  settings: Setting[];
  files: SettingsFile[];
}

export interface Setting {
  value: number | boolean | string;
  default: number | boolean | string;
  name: string;
  origin: string;
  line: number | null;
  set_by: string;
  meaning: string;
  variable: string;
  low: number | null;
  high: number | null;
  choices: string[];
  overruled: OverruledValue[];
}

export interface SettingsFile {
  path: string;
  kind: string;
  is_there: boolean;
}

export interface SourceFigures {
  set_aside: number;
}

export interface SubagentReport {
  at: string | null;
  step: number | null;
  turn: number | null;
  kind: string;
  asked: string;
  status: string;
  answer: string;
}

export interface Subtask {
  id: string;
  task_id: string;
  session_id: string;
  description: string;
  agent_type: string | null;
  agent_id: string | null;
  parent_agent_id: string | null;
  status: string;
  max_turns: number | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  task_list_id: string;
  blocked_by: string[];
  context_snapshot: Record<string, unknown> | null;
  result: Record<string, unknown> | null;
}

export interface Task {
  id: string;
  request_id: string;
  name: string;
  wave_number: number;
  status: string;
  created_at: string;
  completed_at: string | null;
  subtasks: Subtask[];
}

export interface Tokens {
  input: number;
  output: number;
  cache_read: number;
  cache_written: number;
  cost: number | null;
  unpriced: number;
}

export interface TurnQuestion {
  text: string;
  answer: string;
}

export interface Usage {
  last_day: string | null;
  is_priced: boolean;
  total: Tokens;
  days: Tokens[];
  sessions: Tokens[];
  projects: Tokens[];
  agents: Tokens[];
  models: Tokens[];
}

export interface UsedFile {
  path: string;
  reads: number;
  edits: number;
  gone: boolean;
  step: number;
}

export interface WriteFigures {
  written: number;
  failed: number;
  last_error: string | null;
  last_failed_at: string | null;
}

export interface ZoneShares {
  yellow: number;
  orange: number;
  red: number;
}
