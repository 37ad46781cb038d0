/** Why a line of a log is not judged. */

/** Bytes of a line. Those that the gateway writes have some hundred, and 100 KiB with the largest names. */
export const MOST_BYTES = 1024 * 1024

/** Reason → its meaning. Programs may rely on the reasons: add to them, never rename one. */
export const REASONS = {
  not_json: 'the line is not JSON: cut, broken, or of another program',
  line_too_long: 'the line is longer than 1 MiB',
  other_line: 'the line is no request of the access log',
  malformed_line: 'a field of the line is missing, or has a value that the gateway does not write',
  not_decided: 'the gateway refused the request before a decision, or could not decide',
  preflight: 'the request is a CORS preflight, which a table answers without a caller',
  target_not_logged: 'the request target was too long, and the line has only its path',
  host_not_logged: 'an older version wrote the line, without the host, and the tables depend on it',
  space_not_logged:
    'the route reads its space from a part of the request that the line does not have: another header, or the query',
  credential_not_read: 'no credential was read then, and the route needs one now',
  seats_not_logged: 'an older version wrote the line, without what the credential names',
  seats_truncated: 'the credential names more Seats than the line, and those of the line do not grant',
  seat_names_not_logged: 'the line names Seats by id only, and a file of Seats has no ids',
  other_tenant: 'the file of Seats is that of another tenant',
  tenant_not_configured: 'the configuration has no such tenant',
} as const satisfies Record<string, string>

export type Reason = keyof typeof REASONS
