/**
 * `NODE_EXTRA_CA_CERTS`: authorities that Node.js adds to the public ones, for identity providers and for
 * every other server whose settings name no authorities. Node.js takes the part of the file that OpenSSL can
 * read, and continues without the rest. So the gateway reads the file first, and reports its faults like
 * those of other files.
 */

import { authorityTime, readPemFile } from './pem.ts'
import { InvalidValue, Undetermined } from './invalid-value.ts'

const VARIABLE = 'NODE_EXTRA_CA_CERTS'

/**
 * @param env the environment of the process, because Node.js does not read `.env`
 * @param now ms since the epoch
 * @returns the fault and what to do; null: there is none, or the variable is not set
 */
export function extraAuthoritiesFault(env: NodeJS.ProcessEnv, now: number): string | null {
  const file = env[VARIABLE] ?? ''
  if (file === '') return null
  const fault = faultOf(file, now)
  return fault === null ? null : `${VARIABLE} names ${fault}. Correct the file, or unset the variable.`
}

function faultOf(file: string, now: number): string | null {
  const pem = readPemFile(file, 'authorities')
  // A value that names no file may be a secret that was set by mistake: the message does not show it.
  if (pem instanceof Undetermined) return `a file that ${pem.message}`
  const fault = pem instanceof InvalidValue ? pem.message : authorityTime(pem, now)
  return fault === null ? null : `the file ${JSON.stringify(file)}, which ${fault}`
}
