/** The reasons why a line of a log is not judged. */

/** The most bytes of a line. The gateway writes a few hundred, and 100 KiB with the largest names. */
export const MOST_BYTES = 1024 * 1024

/** The meanings by reason. Programs may rely on the reasons: add to them, never rename one. */
export const REASONS = {
  not_json: 'the line is not JSON: it is cut off, broken, or from another program',
  line_too_long: 'the line is longer than 1 MiB',
  other_line: 'the line is not a request in the access log',
  malformed_line: 'a field of the line is missing, or has a value that the gateway does not write',
  not_decided: 'the gateway refused the request before a decision, or could not decide',
  preflight: 'the request is a CORS preflight, which a table answers without a caller',
  target_not_logged: 'the request target was too long, so the line contains only its path',
  host_not_logged:
    'the line comes from an older version, which did not log the host, and the tables depend on it',
  space_not_logged:
    'the line does not contain the space: the route reads it from another header or the query, or the request was refused as that of another tenant',
  credential_not_read: 'no credential was read then, and the route needs one now',
  seats_not_logged: 'the line comes from an older version, which did not log what the credential names',
  seats_truncated:
    'the credential names more Seats than the line lists, and the listed ones do not grant the request',
  seat_names_not_logged: 'the line lists Seats by id only, and a file of Seats has no ids',
  other_tenant: 'the file of Seats belongs to another tenant',
  tenant_not_configured: 'the configuration has no such tenant',
} as const satisfies Record<string, string>

export type Reason = keyof typeof REASONS
