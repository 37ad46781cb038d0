/** Options that several commands share. */

import type { Option } from './arguments.ts'

export const CONFIG = {
  type: 'string',
  value: 'FILE',
  description: 'the configuration file',
  default: 'gateway.config.yaml',
  completes: 'file',
} as const satisfies Option

export const JSON_OUTPUT = {
  type: 'boolean',
  description: 'prints JSON, for programs',
} as const satisfies Option

/** Seats in place of those of the store. */
export const SEATS_FILE = {
  type: 'string',
  value: 'FILE',
  description: 'a file with Seats, in place of those of the store',
  completes: 'file',
} as const satisfies Option

export const TENANT = {
  type: 'string',
  value: 'T',
  description: 'id of a tenant of the configuration',
} as const satisfies Option
