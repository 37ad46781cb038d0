/**
 * Runs one attack until it is stopped, and prints its count. A process of its own, started by `measure.ts`.
 */

import { readFileSync } from 'node:fs'
import { ATTACKS } from './attacks.ts'
import type { AttackLoad } from './clients.ts'

const { attack, seconds, ...setup } = JSON.parse(readFileSync(0, 'utf8')) as AttackLoad
const chosen = ATTACKS.find(({ name }) => name === attack)
if (chosen === undefined) throw new Error(`no attack ${attack}`)
const count = await chosen.run({ ...setup, signal: AbortSignal.timeout(seconds * 1000) })
console.log(JSON.stringify(count))
process.exit()
