/** Status codes of gRPC by name (https://grpc.io/docs/guides/status-codes/), as the conventions for RPC write them. */

const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const

/** Faults of a server (semantic conventions for gRPC); all others are the client's. */
const SERVER_ERRORS: ReadonlySet<string> = new Set([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
])

/** A number that has no name stays one. */
export function grpcStatusName(status: number): string {
  return NAMES[status] ?? String(status)
}

export function isServerError(status: number): boolean {
  return SERVER_ERRORS.has(grpcStatusName(status))
}
