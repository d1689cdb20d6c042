CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE audit (
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	session_id TEXT,
	agent_id TEXT,
	body JSON,
	at_ms BIGINT NOT NULL,
	PRIMARY KEY (id)
);
CREATE INDEX audit_by_session ON audit (session_id, at_ms);
CREATE INDEX audit_by_time ON audit (at_ms, id);
CREATE TABLE blockings (
	id TEXT NOT NULL,
	blocked_by TEXT NOT NULL,
	blocked_agent TEXT NOT NULL,
	reason TEXT,
	created_ms BIGINT NOT NULL,
	PRIMARY KEY (id),
	CONSTRAINT one_blocking UNIQUE (blocked_by, blocked_agent)
);
CREATE INDEX blockings_by_blocked ON blockings (blocked_agent);
CREATE TABLE cleanups (
	id TEXT NOT NULL,
	ran_ms BIGINT NOT NULL,
	figures JSON,
	PRIMARY KEY (id)
);
CREATE TABLE counts (
	noun TEXT NOT NULL,
	n BIGINT DEFAULT '0' NOT NULL,
	PRIMARY KEY (noun)
);
CREATE TABLE events (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	kind TEXT NOT NULL,
	project_id TEXT,
	session_id TEXT,
	body JSON,
	at_ms BIGINT NOT NULL
);
CREATE INDEX events_by_time ON events (at_ms);
CREATE TABLE positions (
	source TEXT NOT NULL,
	position JSON,
	updated_ms BIGINT NOT NULL,
	PRIMARY KEY (source)
);
CREATE TABLE projects (
	id TEXT NOT NULL,
	path TEXT NOT NULL,
	name TEXT,
	metadata JSON,
	created_ms BIGINT NOT NULL,
	updated_ms BIGINT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (path)
);
CREATE INDEX projects_by_update ON projects (updated_ms, id);
CREATE TABLE subscriptions (
	id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	topic TEXT NOT NULL,
	callback_url TEXT,
	created_ms BIGINT NOT NULL,
	updated_ms BIGINT NOT NULL,
	PRIMARY KEY (id),
	CONSTRAINT one_subscription UNIQUE (agent_id, topic)
);
CREATE TABLE waves (
	session_id TEXT NOT NULL,
	wave_number INTEGER NOT NULL,
	status TEXT NOT NULL,
	started_ms BIGINT,
	completed_ms BIGINT,
	PRIMARY KEY (session_id, wave_number)
);
CREATE TABLE agent_contexts (
	id TEXT NOT NULL,
	project_id TEXT,
	agent_id TEXT NOT NULL,
	agent_type TEXT NOT NULL,
	session_id TEXT,
	status TEXT,
	role_context JSON,
	skills_to_restore JSON,
	tools_used JSON,
	progress_summary TEXT,
	compact_id TEXT,
	updated_ms BIGINT NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX contexts_by_agent ON agent_contexts (agent_id, updated_ms);
CREATE INDEX contexts_by_session ON agent_contexts (session_id, agent_type, updated_ms);
CREATE INDEX contexts_by_type ON agent_contexts (agent_type, updated_ms, id);
CREATE INDEX contexts_by_update ON agent_contexts (updated_ms, id);
CREATE TABLE claims (
	project_id TEXT NOT NULL,
	work TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	claimed_ms BIGINT NOT NULL,
	expires_ms BIGINT NOT NULL,
	PRIMARY KEY (project_id, work),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE TABLE messages (
	id TEXT NOT NULL,
	project_id TEXT,
	from_agent TEXT NOT NULL,
	to_agent TEXT,
	topic TEXT NOT NULL,
	content JSON,
	priority INTEGER NOT NULL,
	created_ms BIGINT NOT NULL,
	expires_ms BIGINT NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX messages_by_creation ON messages (created_ms, id);
CREATE INDEX messages_by_expiry ON messages (expires_ms);
CREATE INDEX messages_by_project ON messages (project_id, created_ms);
CREATE INDEX messages_by_reader ON messages (to_agent, expires_ms);
CREATE TABLE requests (
	id TEXT NOT NULL,
	project_id TEXT NOT NULL,
	session_id TEXT NOT NULL,
	prompt TEXT NOT NULL,
	prompt_type TEXT NOT NULL,
	status TEXT NOT NULL,
	metadata JSON,
	created_ms BIGINT NOT NULL,
	completed_ms BIGINT,
	PRIMARY KEY (id),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX requests_by_creation ON requests (created_ms, id);
CREATE INDEX requests_by_project ON requests (project_id, created_ms, id);
CREATE INDEX requests_by_session ON requests (session_id, created_ms, id);
CREATE INDEX requests_by_status ON requests (status, created_ms, id);
CREATE TABLE sessions (
	id TEXT NOT NULL,
	project_id TEXT,
	started_ms BIGINT NOT NULL,
	ended_ms BIGINT,
	total_tools_used BIGINT DEFAULT '0' NOT NULL,
	total_success BIGINT DEFAULT '0' NOT NULL,
	total_errors BIGINT DEFAULT '0' NOT NULL,
	total_duration_ms BIGINT DEFAULT '0' NOT NULL,
	timed_actions BIGINT DEFAULT '0' NOT NULL,
	seen_ms BIGINT,
	compacted_ms BIGINT,
	compact_summary TEXT,
	compact_agent TEXT,
	compact_count BIGINT DEFAULT '0' NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_end ON sessions (ended_ms);
CREATE INDEX sessions_by_project ON sessions (project_id, started_ms, id);
CREATE INDEX sessions_by_start ON sessions (started_ms, id);
CREATE TABLE windows (
	session_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	project_id TEXT,
	agent_type TEXT,
	health JSON,
	used_tokens BIGINT NOT NULL,
	compact_count BIGINT DEFAULT '0' NOT NULL,
	compacted_ms BIGINT,
	updated_ms BIGINT NOT NULL,
	PRIMARY KEY (session_id, agent_id),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX windows_by_agent ON windows (agent_id, updated_ms);
CREATE INDEX windows_by_update ON windows (updated_ms);
CREATE TABLE deliveries (
	message_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	state TEXT NOT NULL,
	at_ms BIGINT NOT NULL,
	PRIMARY KEY (message_id, agent_id),
	FOREIGN KEY(message_id) REFERENCES messages (id) ON DELETE CASCADE
);
CREATE INDEX deliveries_by_agent ON deliveries (agent_id);
CREATE INDEX deliveries_by_state ON deliveries (state, at_ms);
CREATE TABLE tasks (
	id TEXT NOT NULL,
	request_id TEXT NOT NULL,
	name TEXT NOT NULL,
	wave_number INTEGER NOT NULL,
	status TEXT NOT NULL,
	created_ms BIGINT NOT NULL,
	completed_ms BIGINT,
	PRIMARY KEY (id),
	FOREIGN KEY(request_id) REFERENCES requests (id) ON DELETE CASCADE
);
CREATE INDEX tasks_by_creation ON tasks (created_ms, id);
CREATE INDEX tasks_by_request ON tasks (request_id, wave_number, created_ms);
CREATE INDEX tasks_by_status ON tasks (status, created_ms, id);
CREATE TABLE subtasks (
	id TEXT NOT NULL,
	task_id TEXT NOT NULL,
	session_id TEXT NOT NULL,
	description TEXT NOT NULL,
	agent_type TEXT,
	agent_id TEXT,
	parent_agent_id TEXT,
	status TEXT NOT NULL,
	max_turns INTEGER,
	blocked_by JSON,
	context_snapshot JSON,
	result JSON,
	created_ms BIGINT NOT NULL,
	started_ms BIGINT,
	completed_ms BIGINT,
	PRIMARY KEY (id),
	FOREIGN KEY(task_id) REFERENCES tasks (id) ON DELETE CASCADE
);
CREATE INDEX subtasks_by_agent ON subtasks (agent_id);
CREATE INDEX subtasks_by_creation ON subtasks (created_ms, id);
CREATE INDEX subtasks_by_parent ON subtasks (parent_agent_id, created_ms, id);
CREATE INDEX subtasks_by_session ON subtasks (session_id, status, created_ms);
CREATE INDEX subtasks_by_status ON subtasks (status, created_ms, id);
CREATE INDEX subtasks_by_task ON subtasks (task_id, created_ms, id);
CREATE INDEX subtasks_by_type ON subtasks (agent_type, created_ms, id);
CREATE TABLE actions (
	id TEXT NOT NULL,
	session_id TEXT,
	project_id TEXT,
	agent_id TEXT,
	subtask_id TEXT,
	tool_name TEXT NOT NULL,
	tool_type TEXT NOT NULL,
	input TEXT,
	output TEXT,
	exit_code INTEGER NOT NULL,
	duration_ms BIGINT,
	file_paths JSON,
	created_ms BIGINT NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
	FOREIGN KEY(subtask_id) REFERENCES subtasks (id) ON DELETE CASCADE
);
CREATE INDEX actions_by_creation ON actions (created_ms, id);
CREATE INDEX actions_by_project ON actions (project_id);
CREATE INDEX actions_by_session ON actions (session_id, created_ms, id);
CREATE INDEX actions_by_subtask ON actions (subtask_id);
CREATE INDEX actions_by_tool ON actions (tool_name, created_ms, id);
CREATE INDEX actions_by_type ON actions (tool_type, created_ms, id);
INSERT INTO alembic_version (version_num) VALUES ('0001') RETURNING version_num;
CREATE TABLE tool_counts (
	project_id TEXT NOT NULL,
	tool_name TEXT NOT NULL,
	tool_type TEXT NOT NULL,
	n BIGINT DEFAULT '0' NOT NULL,
	PRIMARY KEY (project_id, tool_name, tool_type)
);
CREATE INDEX contexts_by_project ON agent_contexts (project_id, updated_ms, id);
UPDATE alembic_version SET version_num='0002' WHERE alembic_version.version_num = '0001';
UPDATE alembic_version SET version_num='0003' WHERE alembic_version.version_num = '0002';
ALTER TABLE actions ADD COLUMN keywords JSON;
UPDATE alembic_version SET version_num='0004' WHERE alembic_version.version_num = '0003';
CREATE TABLE readings (
	session_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	chunk BIGINT NOT NULL,
	n BIGINT DEFAULT '0' NOT NULL,
	last_ms BIGINT NOT NULL,
	limit_tokens BIGINT,
	thinned BIGINT DEFAULT '0' NOT NULL,
	body JSON,
	PRIMARY KEY (session_id, agent_id, chunk)
);
CREATE INDEX readings_by_time ON readings (last_ms);
CREATE TABLE compactions (
	session_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	number BIGINT NOT NULL,
	project_id TEXT,
	at_ms BIGINT NOT NULL,
	step BIGINT,
	"trigger" TEXT,
	before_tokens BIGINT,
	after_tokens BIGINT,
	PRIMARY KEY (session_id, agent_id, number),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX compactions_by_time ON compactions (at_ms);
CREATE INDEX compactions_by_project ON compactions (project_id, at_ms);
UPDATE alembic_version SET version_num='0005' WHERE alembic_version.version_num = '0004';
