CREATE SCHEMA seatgate;
CREATE TABLE seatgate.api_key_seats (
    tenant text NOT NULL COLLATE pg_catalog."C",
    api_key_id text NOT NULL COLLATE pg_catalog."C",
    "position" integer NOT NULL,
    seat_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.api_keys (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    version integer DEFAULT 1 NOT NULL,
    last_used_at bigint,
    owner text COLLATE pg_catalog."C",
    owner_digest bytea
);
CREATE TABLE seatgate.audit (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    at bigint NOT NULL,
    actor_kind text NOT NULL COLLATE pg_catalog."C",
    actor_id text NOT NULL COLLATE pg_catalog."C",
    actor_name text COLLATE pg_catalog."C",
    request_id text COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    target_kind text NOT NULL COLLATE pg_catalog."C",
    target_id text NOT NULL COLLATE pg_catalog."C",
    target_name text COLLATE pg_catalog."C",
    space text NOT NULL COLLATE pg_catalog."C",
    prev text COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    visible_in text COLLATE pg_catalog."C",
    before text COLLATE pg_catalog."C",
    after text COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.audit_heads (
    tenant text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.audit_starts (
    tenant text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    prev text COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.blocks (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    sub text NOT NULL COLLATE pg_catalog."C",
    sub_digest bytea NOT NULL,
    until bigint,
    reason text COLLATE pg_catalog."C",
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    origin text DEFAULT 'admin'::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.changes (
    seq bigint NOT NULL,
    mark integer NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    audited boolean DEFAULT false NOT NULL
);
CREATE TABLE seatgate.counter (
    one integer NOT NULL,
    seq bigint NOT NULL,
    mark integer NOT NULL,
    id_time bigint NOT NULL,
    CONSTRAINT counter_one_check CHECK ((one = 1))
);
CREATE TABLE seatgate.cutoffs (
    tenant text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    revocation text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.gone_instances (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    process text COLLATE pg_catalog."C",
    gone_at timestamp with time zone NOT NULL
);
CREATE TABLE seatgate.grants (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    sub text NOT NULL COLLATE pg_catalog."C",
    sub_digest bytea NOT NULL,
    user_digest bytea,
    seat_id text NOT NULL COLLATE pg_catalog."C",
    from_at bigint NOT NULL,
    until_at bigint NOT NULL,
    reason text COLLATE pg_catalog."C",
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE seatgate.instances (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    beat bigint NOT NULL,
    applied bigint NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    config text COLLATE pg_catalog."C",
    started_at bigint,
    version text COLLATE pg_catalog."C",
    url text COLLATE pg_catalog."C",
    understands text COLLATE pg_catalog."C",
    cuts text COLLATE pg_catalog."C",
    refused text COLLATE pg_catalog."C",
    secrets text COLLATE pg_catalog."C",
    process text COLLATE pg_catalog."C",
    tables_from text COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.members (
    tenant text NOT NULL COLLATE pg_catalog."C",
    user_digest bytea NOT NULL,
    seat_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.names_given_up (
    tenant text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);
CREATE TABLE seatgate.provider_logouts (
    tenant text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE seatgate.revocations (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    at bigint NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    subject_digest bytea NOT NULL,
    record text NOT NULL COLLATE pg_catalog."C",
    answer text COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.schema_version (
    one integer NOT NULL,
    version integer NOT NULL,
    CONSTRAINT schema_version_one_check CHECK ((one = 1))
);
CREATE TABLE seatgate.scim_groups (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    display_name text NOT NULL COLLATE pg_catalog."C",
    external_id text COLLATE pg_catalog."C",
    member_count bigint NOT NULL,
    active_count bigint NOT NULL,
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    modified_at bigint NOT NULL
);
CREATE TABLE seatgate.scim_members (
    tenant text NOT NULL COLLATE pg_catalog."C",
    group_id text NOT NULL COLLATE pg_catalog."C",
    user_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.scim_users (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    user_name text NOT NULL COLLATE pg_catalog."C",
    user_name_key text NOT NULL COLLATE pg_catalog."C",
    external_id text COLLATE pg_catalog."C",
    active bigint NOT NULL,
    email text COLLATE pg_catalog."C",
    email_key text COLLATE pg_catalog."C",
    display_name text COLLATE pg_catalog."C",
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    modified_at bigint NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C",
    former text COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.seats (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    spaces text NOT NULL COLLATE pg_catalog."C",
    short_spaces text GENERATED ALWAYS AS (
CASE
    WHEN (octet_length(spaces) <= 200) THEN spaces
    ELSE NULL::text
END) STORED COLLATE pg_catalog."C",
    permissions text NOT NULL COLLATE pg_catalog."C",
    member_count integer DEFAULT 0 NOT NULL,
    created_by text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_by text COLLATE pg_catalog."C",
    updated_at bigint,
    version integer DEFAULT 1 NOT NULL
);
CREATE TABLE seatgate.sessions (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    cookie_hash bytea,
    family_hash bytea,
    handle_hash bytea,
    sub text NOT NULL COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    name text COLLATE pg_catalog."C",
    hash_perm text NOT NULL COLLATE pg_catalog."C",
    issued_at bigint NOT NULL,
    renew_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    ended_at bigint,
    claimed_until bigint DEFAULT 0 NOT NULL,
    sealed text NOT NULL COLLATE pg_catalog."C",
    provider_session bytea,
    created_at bigint,
    revoked bigint DEFAULT 0 NOT NULL,
    member text COLLATE pg_catalog."C",
    void_until bigint DEFAULT 0 NOT NULL,
    CONSTRAINT sessions_check CHECK (((family_hash IS NULL) = (cookie_hash IS NOT NULL))),
    CONSTRAINT sessions_check1 CHECK (((family_hash IS NULL) = (handle_hash IS NULL)))
);
CREATE TABLE seatgate.tables_answers (
    tenant text NOT NULL COLLATE pg_catalog."C",
    candidate text NOT NULL COLLATE pg_catalog."C",
    instance text NOT NULL COLLATE pg_catalog."C",
    answer text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.tables_candidates (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    base bigint NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    files text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.tables_versions (
    tenant text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    entries bigint NOT NULL,
    created_at bigint NOT NULL,
    created_by text NOT NULL COLLATE pg_catalog."C",
    files text COLLATE pg_catalog."C"
);
CREATE TABLE seatgate.users (
    tenant text NOT NULL COLLATE pg_catalog."C",
    sub text NOT NULL COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    name text COLLATE pg_catalog."C",
    last_sign_in bigint,
    groups_left_out bigint DEFAULT 0 NOT NULL,
    member text COLLATE pg_catalog."C"
);
INSERT INTO seatgate.api_key_seats VALUES ('acme', '01M8M48WYS4YT77B9RXC8PM9GR', 0, '01M8M48WYR1RK5SPT0KBVHSFAA');
INSERT INTO seatgate.api_key_seats VALUES ('acme', '01M8M48ZEJN443YFMPHN6NEQ82', 0, '01M8M48ZBCCG3VW1S22DN0FNRG');
INSERT INTO seatgate.api_key_seats VALUES ('acme', '01M8M48ZEZTVA5RV6HGMJMKMB8', 0, '01M8M48ZBCCG3VW1S22DN0FNRG');
INSERT INTO seatgate.api_keys VALUES ('acme', '01M8M48ZEJN443YFMPHN6NEQ82', 'export', '\xa460e313209ded3a6c3f2ac90062953b03fa4c81f7128db8742590a4ac53de38', '01M8M48WYS4YT77B9RXC8PM9GR', 1795971907026, NULL, NULL, 1, NULL, NULL, NULL);
INSERT INTO seatgate.api_keys VALUES ('acme', '01M8M48ZEZTVA5RV6HGMJMKMB8', 'lost', '\x8b8ccd193080cafd00277a816ec0b277e38ba5e1b74a8093d5f6e363056d579e', '01M8M48WYS4YT77B9RXC8PM9GR', 1795971907039, NULL, 1795971907202, 2, NULL, '"dora"', '\xc48a563527626f7e28669ed9f768d998d97eeadbdff9f94ac8da10043f912959');
INSERT INTO seatgate.api_keys VALUES ('acme', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', '\xd4e55fdf45a149329125afca2c7e588edaf619d1fcded17e24d6c4f658dbdeca', 'bootstrap', 1795971904472, NULL, NULL, 1, 1795971906896, NULL, NULL);
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48WYT66P9756SYPJ51NW2', 1, 1795971904472, 'command', 'bootstrap', NULL, NULL, 'bootstrap', 'seat', '01M8M48WYR1RK5SPT0KBVHSFAA', 'admin', 'admin', NULL, '72526ffeb454b8e50cd9e8edb3d3a1370a466cc7e0d2dd9e8e297e58a21528af', 'admin', NULL, '{"api_key":{"created_at":"2026-11-29T17:05:04.472Z","created_by":"bootstrap","id":"01M8M48WYS4YT77B9RXC8PM9GR","name":"bootstrap","seats":["admin"]},"created_at":"2026-11-29T17:05:04.472Z","created_by":"bootstrap","id":"01M8M48WYR1RK5SPT0KBVHSFAA","name":"admin","permissions":["*"],"spaces":["admin"],"updated_at":"2026-11-29T17:05:04.472Z"}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZBDVPYM85DJR3WWBAZE', 2, 1795971906924, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', 'c0bcd03b-3162-4a49-845a-9b1861cda944', 'seat.create', 'seat', '01M8M48ZBCCG3VW1S22DN0FNRG', 'Viewer', 'admin', '72526ffeb454b8e50cd9e8edb3d3a1370a466cc7e0d2dd9e8e297e58a21528af', 'b5f2a57fb1df9e98363efb9980f948c3d75f21b9312687cc8707b923b036ea54', 'main', NULL, '{"created_at":"2026-11-29T17:05:06.924Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZBCCG3VW1S22DN0FNRG","name":"Viewer","permissions":["trainings:list"],"spaces":["main"],"updated_at":"2026-11-29T17:05:06.924Z"}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZD53BBQA07KKYQPHA73', 3, 1795971906980, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', 'b64e8de2-2cea-43c9-b363-c2c5bda42922', 'seat.create', 'seat', '01M8M48ZD4H2W80T1G8XKBPBGX', 'Editor', 'admin', 'b5f2a57fb1df9e98363efb9980f948c3d75f21b9312687cc8707b923b036ea54', '6315907cbb8d787c2cd6bc53d1e40bf0853ee4dd1e43ddf0468db32d7c6f9295', 'main', NULL, '{"created_at":"2026-11-29T17:05:06.980Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZD4H2W80T1G8XKBPBGX","name":"Editor","permissions":["trainings:create"],"spaces":["main"],"updated_at":"2026-11-29T17:05:06.980Z"}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZDEE4D84Q54B1WE4NZV', 4, 1795971906989, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', '43c454e1-691a-47ef-a318-0d63ab7dbb7f', 'seat.create', 'seat', '01M8M48ZDDJGR1GRS5ABSAJSCW', 'Leftover', 'admin', '6315907cbb8d787c2cd6bc53d1e40bf0853ee4dd1e43ddf0468db32d7c6f9295', '9e4da26cebb25fa89292129a829301d8266ca8dabc206060b11a7abfd9b481c3', 'main', NULL, '{"created_at":"2026-11-29T17:05:06.989Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZDDJGR1GRS5ABSAJSCW","name":"Leftover","permissions":["trainings:delete"],"spaces":["main"],"updated_at":"2026-11-29T17:05:06.989Z"}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZDX1FDXSKQKAZ5HADV0', 5, 1795971907005, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', '3d297c75-df14-48d0-8faa-3b4f782ceae4', 'seat.update', 'seat', '01M8M48ZD4H2W80T1G8XKBPBGX', 'Editor', 'admin', '9e4da26cebb25fa89292129a829301d8266ca8dabc206060b11a7abfd9b481c3', 'b46e004b88f0e7862db0e28adeb2c69c6b45c070d5f5e2ace4967076890b405f', 'main', '{"created_at":"2026-11-29T17:05:06.980Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZD4H2W80T1G8XKBPBGX","name":"Editor","permissions":["trainings:create"],"spaces":["main"],"updated_at":"2026-11-29T17:05:06.980Z"}', '{"created_at":"2026-11-29T17:05:06.980Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZD4H2W80T1G8XKBPBGX","name":"Editor","permissions":["trainings:create","trainings:update"],"spaces":["main"],"updated_at":"2026-11-29T17:05:07.005Z","updated_by":"01M8M48WYS4YT77B9RXC8PM9GR"}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZE57BDQJHQTVM8CDYT4', 6, 1795971907013, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', '50b5a14a-3d6b-495f-b417-482c0777be9c', 'seat.delete', 'seat', '01M8M48ZDDJGR1GRS5ABSAJSCW', 'Leftover', 'admin', 'b46e004b88f0e7862db0e28adeb2c69c6b45c070d5f5e2ace4967076890b405f', 'b7b3095e99d719e758dfcea76260a105dc43c76b138069097117e07741f2f81c', 'main', '{"created_at":"2026-11-29T17:05:06.989Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZDDJGR1GRS5ABSAJSCW","name":"Leftover","permissions":["trainings:delete"],"spaces":["main"],"updated_at":"2026-11-29T17:05:06.989Z"}', NULL);
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZEKGY58H37BGB479862', 7, 1795971907026, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', 'e4793f50-008f-40b8-b584-59a90009014b', 'api_key.create', 'api-key', '01M8M48ZEJN443YFMPHN6NEQ82', 'export', 'admin', 'b7b3095e99d719e758dfcea76260a105dc43c76b138069097117e07741f2f81c', 'c922b1aff9d8724e969e3a87f35e42ea55e00d4167c76c88ab520f4812ec8fba', NULL, NULL, '{"created_at":"2026-11-29T17:05:07.026Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZEJN443YFMPHN6NEQ82","name":"export","seats":["Viewer"]}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZF044Q7KVG3HQ7CTWGP', 8, 1795971907039, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', 'a9028655-a4fb-4378-8868-1f043b026c1e', 'api_key.create', 'api-key', '01M8M48ZEZTVA5RV6HGMJMKMB8', 'lost', 'admin', 'c922b1aff9d8724e969e3a87f35e42ea55e00d4167c76c88ab520f4812ec8fba', '8bf504e26e8f4610437f94058bcf458553a0e74a5a944c01f72661f4f9c4fd4b', NULL, NULL, '{"created_at":"2026-11-29T17:05:07.039Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZEZTVA5RV6HGMJMKMB8","name":"lost","owner":"dora","seats":["Viewer"]}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZFM6P3ZZ7QNBBXVBHWN', 9, 1795971907059, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', 'a6f2d551-f3a1-4454-aeb5-aa1a079dc8f4', 'grant.create', 'grant', '01M8M48ZFKRG7GKGHGEHY0HE9S', 'carol', 'admin', '8bf504e26e8f4610437f94058bcf458553a0e74a5a944c01f72661f4f9c4fd4b', 'eddd462e3158e976c98aebb7a0260a15b4516f3405410f7d8240a0c8a049a5b3', NULL, NULL, '{"created_at":"2026-11-29T17:05:07.059Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","from":"2026-11-29T17:05:07.059Z","id":"01M8M48ZFKRG7GKGHGEHY0HE9S","seat":"Editor","seat_id":"01M8M48ZD4H2W80T1G8XKBPBGX","until":"2026-11-29T18:05:07.051Z","user":"carol"}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZGTRRC2V1V40J8CAMBQ', 10, 1795971907097, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', 'b69ec1a5-659e-4f06-929f-e1e15bb97fab', 'block.create', 'block', '01M8M48ZGST93FTH1ERXMV5CKF', 'mallory', 'admin', 'eddd462e3158e976c98aebb7a0260a15b4516f3405410f7d8240a0c8a049a5b3', '61a4e442aaad98db6d9d5869d17fbc643ec96d663168e13577bf60df1ac50e6a', NULL, NULL, '{"created_at":"2026-11-29T17:05:07.097Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZGST93FTH1ERXMV5CKF","origin":"admin","user":"mallory"}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZKZZ2J1VYTBJPGNAEFQ', 11, 1795971907198, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', 'a5e750f3-f623-4cf3-a57b-c99286300fa5', 'api_key.revoke', 'api-key', '01M8M48ZEZTVA5RV6HGMJMKMB8', 'lost', 'admin', '61a4e442aaad98db6d9d5869d17fbc643ec96d663168e13577bf60df1ac50e6a', '6b5ebdf7ed648657298439e406fd3a2b532ed842e6d7c6882bbdeb8e367f1d6f', NULL, '{"created_at":"2026-11-29T17:05:07.039Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZEZTVA5RV6HGMJMKMB8","name":"lost","owner":"dora","seats":["Viewer"]}', '{"created_at":"2026-11-29T17:05:07.039Z","created_by":"01M8M48WYS4YT77B9RXC8PM9GR","id":"01M8M48ZEZTVA5RV6HGMJMKMB8","name":"lost","owner":"dora","revoked_at":"2026-11-29T17:05:07.202Z","seats":["Viewer"]}');
INSERT INTO seatgate.audit VALUES ('acme', '01M8M48ZM060ZWTA95TN1WKXX6', 12, 1795971907198, 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', 'bootstrap', 'a5e750f3-f623-4cf3-a57b-c99286300fa5', 'revocation.create', 'revocation', '01M8M48ZKY7KPY3CNCVP71B8Y9', 'user:dora', 'admin', '6b5ebdf7ed648657298439e406fd3a2b532ed842e6d7c6882bbdeb8e367f1d6f', '48f5f4c2d41f6d14254b2cf938692f065dab5709c307319258ad6c9cdcb866eb', NULL, NULL, '{"at":"2026-11-29T17:05:07.202Z","ended":{"api_keys":1,"sessions":0},"id":"01M8M48ZKY7KPY3CNCVP71B8Y9","subject":{"user":"dora"},"what":"existing"}');
INSERT INTO seatgate.audit_heads VALUES ('acme', 12, '48f5f4c2d41f6d14254b2cf938692f065dab5709c307319258ad6c9cdcb866eb');
INSERT INTO seatgate.blocks VALUES ('acme', '01M8M48ZGST93FTH1ERXMV5CKF', '"mallory"', '\x9ec747d44370f5ac436909b0f5a1b99f5f103a9cf46f2e81d5d06e172d548290', NULL, NULL, '01M8M48WYS4YT77B9RXC8PM9GR', 1795971907097, 'admin');
INSERT INTO seatgate.changes VALUES (1, 1259179754, 'acme', 'seat', '01M8M48WYR1RK5SPT0KBVHSFAA', true);
INSERT INTO seatgate.changes VALUES (2, 1259179754, 'acme', 'seat-name', 'admin', true);
INSERT INTO seatgate.changes VALUES (3, 1259179754, 'acme', 'api-key', '01M8M48WYS4YT77B9RXC8PM9GR', true);
INSERT INTO seatgate.changes VALUES (4, 547059877, 'acme', 'seat', '01M8M48ZBCCG3VW1S22DN0FNRG', true);
INSERT INTO seatgate.changes VALUES (5, 547059877, 'acme', 'seat-name', 'Viewer', true);
INSERT INTO seatgate.changes VALUES (6, 68300907, 'acme', 'seat', '01M8M48ZD4H2W80T1G8XKBPBGX', true);
INSERT INTO seatgate.changes VALUES (7, 68300907, 'acme', 'seat-name', 'Editor', true);
INSERT INTO seatgate.changes VALUES (8, 1647781420, 'acme', 'seat', '01M8M48ZDDJGR1GRS5ABSAJSCW', true);
INSERT INTO seatgate.changes VALUES (9, 1647781420, 'acme', 'seat-name', 'Leftover', true);
INSERT INTO seatgate.changes VALUES (10, 764401100, 'acme', 'seat', '01M8M48ZD4H2W80T1G8XKBPBGX', true);
INSERT INTO seatgate.changes VALUES (11, 764401100, 'acme', 'seat-name', 'Editor', true);
INSERT INTO seatgate.changes VALUES (12, 733548826, 'acme', 'seat', '01M8M48ZDDJGR1GRS5ABSAJSCW', true);
INSERT INTO seatgate.changes VALUES (13, 733548826, 'acme', 'seat-name', 'Leftover', true);
INSERT INTO seatgate.changes VALUES (14, 1886718149, 'acme', 'api-key', '01M8M48ZEJN443YFMPHN6NEQ82', true);
INSERT INTO seatgate.changes VALUES (15, 750019560, 'acme', 'api-key', '01M8M48ZEZTVA5RV6HGMJMKMB8', true);
INSERT INTO seatgate.changes VALUES (16, 1939510842, 'acme', 'grant', '"carol"', true);
INSERT INTO seatgate.changes VALUES (17, 1488037186, 'acme', 'block', '"mallory"', true);
INSERT INTO seatgate.changes VALUES (18, 895261240, 'acme', 'revocation', '{"at":1795971907202,"subject":{"user":"dora"},"listed":true}', true);
INSERT INTO seatgate.changes VALUES (19, 895261240, 'acme', 'api-key', '01M8M48ZEZTVA5RV6HGMJMKMB8', true);
INSERT INTO seatgate.counter VALUES (1, 19, 895261240, 1795971907200);
INSERT INTO seatgate.cutoffs VALUES ('acme', 'user', '\x4ba099a89488e18007517deff05e43ff5a7ac2b152fa08db134ff4d7726d5f58', '{"user":"dora"}', 1795971907202, '01M8M48ZKY7KPY3CNCVP71B8Y9');
INSERT INTO seatgate.grants VALUES ('acme', '01M8M48ZFKRG7GKGHGEHY0HE9S', '"carol"', '\x8ba44694ee38d4bcf08f0d922b14ae971287ce1b9bc9df8ae6eabc6c1d7ea788', '\x4c26d9074c27d89ede59270c0ac14b71e071b15239519f75474b2f3ba63481f5', '01M8M48ZD4H2W80T1G8XKBPBGX', 1795971907059, 1795975507051, NULL, '01M8M48WYS4YT77B9RXC8PM9GR', 1795971907059);
INSERT INTO seatgate.names_given_up VALUES ('acme', 'Leftover', 1795971907);
INSERT INTO seatgate.revocations VALUES ('acme', '01M8M48ZKY7KPY3CNCVP71B8Y9', 19, 1795971907202, '{"user":"dora"}', '\x4ba099a89488e18007517deff05e43ff5a7ac2b152fa08db134ff4d7726d5f58', '{"what":"existing","until":null,"reason":null,"apiKeys":false,"ended":{"sessions":0,"apiKeys":1},"keptKey":null,"audit":{"seq":12,"hash":"48f5f4c2d41f6d14254b2cf938692f065dab5709c307319258ad6c9cdcb866eb"}}', '{"id":"01M8M48ZKY7KPY3CNCVP71B8Y9","seq":19,"at":"2026-11-29T17:05:07.202Z","subject":{"user":"dora"},"what":"existing","reason":null,"state":"closed","ended":{"sessions":0,"api_keys":1,"websockets":0,"streams":0,"requests":0},"instances":[{"id":"66f13f6e-fd03-4ab7-94d1-166880b3a92f","name":"vm 18761","how":"acknowledged","ms":1.452,"cut":0}],"not_covered":[],"receipt":null}');
INSERT INTO seatgate.schema_version VALUES (1, 24);
INSERT INTO seatgate.seats VALUES ('acme', '01M8M48WYR1RK5SPT0KBVHSFAA', 'admin', '["admin"]', DEFAULT, '["*"]', 0, 'bootstrap', 1795971904472, NULL, NULL, 1);
INSERT INTO seatgate.seats VALUES ('acme', '01M8M48ZBCCG3VW1S22DN0FNRG', 'Viewer', '["main"]', DEFAULT, '["trainings:list"]', 0, '01M8M48WYS4YT77B9RXC8PM9GR', 1795971906924, NULL, NULL, 1);
INSERT INTO seatgate.seats VALUES ('acme', '01M8M48ZD4H2W80T1G8XKBPBGX', 'Editor', '["main"]', DEFAULT, '["trainings:create","trainings:update"]', 0, '01M8M48WYS4YT77B9RXC8PM9GR', 1795971906980, '01M8M48WYS4YT77B9RXC8PM9GR', 1795971907005, 2);
INSERT INTO seatgate.users VALUES ('acme', 'carol', NULL, NULL, NULL, 0, NULL);
ALTER TABLE ONLY seatgate.api_key_seats
    ADD CONSTRAINT api_key_seats_pkey PRIMARY KEY (tenant, api_key_id, seat_id);
ALTER TABLE ONLY seatgate.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.audit_heads
    ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (tenant);
ALTER TABLE ONLY seatgate.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.audit_starts
    ADD CONSTRAINT audit_starts_pkey PRIMARY KEY (tenant);
ALTER TABLE ONLY seatgate.blocks
    ADD CONSTRAINT blocks_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.blocks
    ADD CONSTRAINT blocks_tenant_sub_digest_origin_key UNIQUE (tenant, sub_digest, origin);
ALTER TABLE ONLY seatgate.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY seatgate.counter
    ADD CONSTRAINT counter_pkey PRIMARY KEY (one);
ALTER TABLE ONLY seatgate.cutoffs
    ADD CONSTRAINT cutoffs_pkey PRIMARY KEY (tenant, kind, digest);
ALTER TABLE ONLY seatgate.gone_instances
    ADD CONSTRAINT gone_instances_pkey PRIMARY KEY (id);
ALTER TABLE ONLY seatgate.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);
ALTER TABLE ONLY seatgate.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (tenant, user_digest, seat_id);
ALTER TABLE ONLY seatgate.names_given_up
    ADD CONSTRAINT names_given_up_pkey PRIMARY KEY (tenant, name);
ALTER TABLE ONLY seatgate.provider_logouts
    ADD CONSTRAINT provider_logouts_pkey PRIMARY KEY (tenant, digest);
ALTER TABLE ONLY seatgate.revocations
    ADD CONSTRAINT revocations_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (one);
ALTER TABLE ONLY seatgate.scim_groups
    ADD CONSTRAINT scim_groups_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.scim_groups
    ADD CONSTRAINT scim_groups_tenant_display_name_key UNIQUE (tenant, display_name);
ALTER TABLE ONLY seatgate.scim_members
    ADD CONSTRAINT scim_members_pkey PRIMARY KEY (tenant, group_id, user_id);
ALTER TABLE ONLY seatgate.scim_users
    ADD CONSTRAINT scim_users_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.scim_users
    ADD CONSTRAINT scim_users_tenant_external_id_key UNIQUE (tenant, external_id);
ALTER TABLE ONLY seatgate.scim_users
    ADD CONSTRAINT scim_users_tenant_user_name_key_key UNIQUE (tenant, user_name_key);
ALTER TABLE ONLY seatgate.seats
    ADD CONSTRAINT seats_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.seats
    ADD CONSTRAINT seats_tenant_name_key UNIQUE (tenant, name);
ALTER TABLE ONLY seatgate.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.tables_answers
    ADD CONSTRAINT tables_answers_pkey PRIMARY KEY (tenant, candidate, instance);
ALTER TABLE ONLY seatgate.tables_candidates
    ADD CONSTRAINT tables_candidates_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY seatgate.tables_versions
    ADD CONSTRAINT tables_versions_pkey PRIMARY KEY (tenant, version);
ALTER TABLE ONLY seatgate.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (tenant, sub);
ALTER TABLE seatgate.changes
    ADD CONSTRAINT written_by_a_version_with_an_audit CHECK ((audited OR (kind <> ALL (ARRAY['seat'::text, 'seat-name'::text, 'api-key'::text])))) NOT VALID;
CREATE INDEX administrators ON seatgate.seats USING btree (tenant, short_spaces, id) WHERE ((strpos(permissions, '"*"'::text) > 0) OR ((strpos(permissions, '"seats:update"'::text) > 0) AND (strpos(permissions, '"seats:grant"'::text) > 0)));
CREATE INDEX api_keys_of_owner ON seatgate.api_keys USING btree (tenant, owner_digest, id) WHERE (owner_digest IS NOT NULL);
CREATE INDEX api_keys_of_seat ON seatgate.api_key_seats USING btree (tenant, seat_id);
CREATE INDEX audit_by_actor ON seatgate.audit USING btree (tenant, substr(actor_id, 1, 64), id);
CREATE INDEX audit_by_space ON seatgate.audit USING btree (tenant, visible_in, id) WHERE (visible_in IS NOT NULL);
CREATE INDEX audit_by_target ON seatgate.audit USING btree (tenant, substr(target_id, 1, 64), id);
CREATE INDEX audit_by_time ON seatgate.audit USING btree (tenant, at);
CREATE INDEX grants_of_member ON seatgate.grants USING btree (tenant, user_digest, seat_id);
CREATE INDEX grants_of_seat ON seatgate.grants USING btree (tenant, seat_id, id);
CREATE INDEX grants_of_user ON seatgate.grants USING btree (tenant, sub_digest, id);
CREATE INDEX members_of_seat ON seatgate.members USING btree (tenant, seat_id);
CREATE INDEX provider_logouts_by_time ON seatgate.provider_logouts USING btree (at);
CREATE INDEX revocations_of_subject ON seatgate.revocations USING btree (tenant, subject_digest, id);
CREATE INDEX scim_groups_by_external_id ON seatgate.scim_groups USING btree (tenant, external_id, id) WHERE (external_id IS NOT NULL);
CREATE INDEX scim_members_of_user ON seatgate.scim_members USING btree (tenant, user_id, group_id);
CREATE INDEX scim_users_by_display_name ON seatgate.scim_users USING btree (tenant, display_name, id) WHERE (display_name IS NOT NULL);
CREATE INDEX scim_users_by_email ON seatgate.scim_users USING btree (tenant, email_key, id) WHERE (email_key IS NOT NULL);
CREATE INDEX scim_users_by_name ON seatgate.scim_users USING btree (tenant, user_name);
CREATE INDEX seats_of_spaces ON seatgate.seats USING btree (tenant, short_spaces, id);
CREATE INDEX sessions_by_expiry ON seatgate.sessions USING btree (expires_at);
CREATE INDEX sessions_of_provider_session ON seatgate.sessions USING btree (tenant, provider_session, id) WHERE (ended_at IS NULL);
CREATE INDEX sessions_of_user ON seatgate.sessions USING btree (tenant, sub, id) WHERE (ended_at IS NULL);
CREATE INDEX users_by_email ON seatgate.users USING btree (tenant, lower(email)) WHERE (email IS NOT NULL);
CREATE INDEX users_of_member ON seatgate.users USING btree (tenant, member, sub) WHERE (member IS NOT NULL);
CREATE INDEX wildcards ON seatgate.seats USING btree (tenant, id) WHERE (strpos(permissions, '"*"'::text) > 0);
ALTER TABLE ONLY seatgate.api_key_seats
    ADD CONSTRAINT api_key_seats_tenant_api_key_id_fkey FOREIGN KEY (tenant, api_key_id) REFERENCES seatgate.api_keys(tenant, id) ON DELETE CASCADE;
ALTER TABLE ONLY seatgate.api_key_seats
    ADD CONSTRAINT api_key_seats_tenant_seat_id_fkey FOREIGN KEY (tenant, seat_id) REFERENCES seatgate.seats(tenant, id) ON DELETE CASCADE;
ALTER TABLE ONLY seatgate.grants
    ADD CONSTRAINT grants_tenant_seat_id_fkey FOREIGN KEY (tenant, seat_id) REFERENCES seatgate.seats(tenant, id) ON DELETE CASCADE;
ALTER TABLE ONLY seatgate.members
    ADD CONSTRAINT members_tenant_seat_id_fkey FOREIGN KEY (tenant, seat_id) REFERENCES seatgate.seats(tenant, id) ON DELETE CASCADE;
ALTER TABLE ONLY seatgate.tables_answers
    ADD CONSTRAINT tables_answers_tenant_candidate_fkey FOREIGN KEY (tenant, candidate) REFERENCES seatgate.tables_candidates(tenant, id) ON DELETE CASCADE;
