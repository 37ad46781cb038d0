/** Options that several commands share. */

import type { Option } from './arguments.ts'

export const CONFIG = {
  value: 'FILE',
  description: 'the configuration file',
  default: 'gateway.config.yaml',
  completes: 'file',
} as const satisfies Option

export const JSON_OUTPUT = { description: 'prints JSON for programs' } as const satisfies Option

/** The first format is the default. */
export function formatOption<const F extends string>(formats: readonly [F, ...F[]]) {
  return {
    value: 'FORMAT',
    description: `output format: ${formats.join(', ')}`,
    default: formats[0],
    choices: formats,
    completes: formats,
  } as const satisfies Option
}

/** Seats in place of those of the store. */
export const SEATS_FILE = {
  value: 'FILE',
  description: 'a file with Seats, used instead of those in the store',
  completes: 'file',
} as const satisfies Option

export const TENANT = {
  value: 'T',
  description: 'id of a tenant in the configuration; may be omitted if there is only one',
} as const satisfies Option

/** Of a command that is about all of them. */
export const TENANTS = {
  ...TENANT,
  description: 'id of a tenant; by default, all tenants',
} as const satisfies Option

export const SPACE = { value: 'S', description: 'a space' } as const satisfies Option

export const HOST = {
  value: 'H',
  description: 'the host of the request, if route tables list hosts',
} as const satisfies Option

/** For completion. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
