CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE audit (
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	session_id TEXT,
	agent_id TEXT,
	body JSONB,
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
	figures JSONB,
	PRIMARY KEY (id)
);
CREATE TABLE counts (
	noun TEXT NOT NULL,
	n BIGINT DEFAULT '0' NOT NULL,
	PRIMARY KEY (noun)
);
CREATE TABLE events (
	id BIGSERIAL NOT NULL,
	kind TEXT NOT NULL,
	project_id TEXT,
	session_id TEXT,
	body JSONB,
	at_ms BIGINT NOT NULL,
	PRIMARY KEY (id)
);
CREATE INDEX events_by_time ON events (at_ms);
CREATE TABLE positions (
	source TEXT NOT NULL,
	position JSONB,
	updated_ms BIGINT NOT NULL,
	PRIMARY KEY (source)
);
CREATE TABLE projects (
	id TEXT NOT NULL,
	path TEXT NOT NULL,
	name TEXT,
	metadata JSONB,
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
	role_context JSONB,
	skills_to_restore JSONB,
	tools_used JSONB,
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
	content JSONB,
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
	metadata JSONB,
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
	health JSONB,
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
	blocked_by JSONB,
	context_snapshot JSONB,
	result JSONB,
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
	file_paths JSONB,
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
INSERT INTO alembic_version (version_num) VALUES ('0001') RETURNING alembic_version.version_num;
CREATE TABLE tool_counts (
	project_id TEXT NOT NULL,
	tool_name TEXT NOT NULL,
	tool_type TEXT NOT NULL,
	n BIGINT DEFAULT '0' NOT NULL,
	PRIMARY KEY (project_id, tool_name, tool_type)
);
CREATE INDEX contexts_by_project ON agent_contexts (project_id, updated_ms, id);
UPDATE alembic_version SET version_num='0002' WHERE alembic_version.version_num = '0001';
CREATE TEXT SEARCH DICTIONARY holdfast_stem (TEMPLATE = snowball, Language = english);
CREATE TEXT SEARCH CONFIGURATION holdfast (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION holdfast ALTER MAPPING FOR asciiword, word, hword, hword_part, asciihword, hword_asciipart WITH holdfast_stem;
CREATE TABLE recall_projects (project text PRIMARY KEY, items bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0, vectors bigint NOT NULL DEFAULT 0, embedder text NOT NULL DEFAULT '');
CREATE TABLE recall_sources (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, project text NOT NULL, machine text NOT NULL, name text NOT NULL, state text NOT NULL, UNIQUE (project, machine, name));
CREATE TABLE recall_items (project text NOT NULL, place bigint NOT NULL, id text NOT NULL, kind text NOT NULL, hash text NOT NULL, author text, cold boolean NOT NULL, session text, agent text, file text, first_turn integer, last_turn integer, uuids text, at text, byte bigint, title text NOT NULL, text text NOT NULL, more text NOT NULL, length integer NOT NULL, words tsvector NOT NULL, PRIMARY KEY (project, place), UNIQUE (project, id)) PARTITION BY HASH (project);
CREATE INDEX recall_items_by_words ON recall_items USING gin (words) WITH (gin_pending_list_limit = 1024);
CREATE TABLE recall_items_0 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 0);
ALTER TABLE recall_items_0 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_1 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 1);
ALTER TABLE recall_items_1 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_2 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 2);
ALTER TABLE recall_items_2 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_3 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 3);
ALTER TABLE recall_items_3 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_4 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 4);
ALTER TABLE recall_items_4 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_5 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 5);
ALTER TABLE recall_items_5 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_6 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 6);
ALTER TABLE recall_items_6 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_7 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 7);
ALTER TABLE recall_items_7 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_8 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 8);
ALTER TABLE recall_items_8 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_9 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 9);
ALTER TABLE recall_items_9 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_10 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 10);
ALTER TABLE recall_items_10 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_11 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 11);
ALTER TABLE recall_items_11 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_12 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 12);
ALTER TABLE recall_items_12 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_13 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 13);
ALTER TABLE recall_items_13 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_14 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 14);
ALTER TABLE recall_items_14 ALTER words SET STATISTICS 1000;
CREATE TABLE recall_items_15 PARTITION OF recall_items FOR VALUES WITH (MODULUS 16, REMAINDER 15);
ALTER TABLE recall_items_15 ALTER words SET STATISTICS 1000;
UPDATE alembic_version SET version_num='0003' WHERE alembic_version.version_num = '0002';
ALTER TABLE actions ADD COLUMN keywords JSONB;
UPDATE alembic_version SET version_num='0004' WHERE alembic_version.version_num = '0003';
CREATE TABLE readings (
	session_id TEXT NOT NULL,
	agent_id TEXT NOT NULL,
	chunk BIGINT NOT NULL,
	n BIGINT DEFAULT '0' NOT NULL,
	last_ms BIGINT NOT NULL,
	limit_tokens BIGINT,
	thinned BIGINT DEFAULT '0' NOT NULL,
	body JSONB,
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
	trigger TEXT,
	before_tokens BIGINT,
	after_tokens BIGINT,
	PRIMARY KEY (session_id, agent_id, number),
	FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX compactions_by_time ON compactions (at_ms);
CREATE INDEX compactions_by_project ON compactions (project_id, at_ms);
UPDATE alembic_version SET version_num='0005' WHERE alembic_version.version_num = '0004';
