/**
 * What Seatgate uses of `node:http`. An import of the module itself would read each of its exports, and one
 * of them loads `fetch`: 70 ms of CPU time in each process and thread that starts. Types come from
 * `node:http`.
 */

export const { Agent, createServer, IncomingMessage, METHODS, request, STATUS_CODES } =
  process.getBuiltinModule('node:http')
