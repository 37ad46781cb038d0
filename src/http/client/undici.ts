/** Loads undici on first use: it takes 7 MiB, and only health checks need it. */

import { createRequire } from 'node:module'
import type * as undici from 'undici'

const require = createRequire(import.meta.url)

export function loadUndici(): typeof undici {
  return require('undici')
}
