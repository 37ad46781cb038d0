/** Runs one attack until it is stopped, and prints its count. A process of its own, started by `measure.ts`. */

import { ATTACKS } from './attacks.ts'
import type { AttackSetup } from './clients.ts'

const { attack, seconds, ...setup } = JSON.parse(process.argv[2] ?? '{}') as Omit<AttackSetup, 'signal'> & {
  readonly attack: string
  readonly seconds: number
}
const chosen = ATTACKS.find(({ name }) => name === attack)
if (chosen === undefined) throw new Error(`no attack ${attack}`)
const count = await chosen.run({ ...setup, signal: AbortSignal.timeout(seconds * 1000) })
console.log(JSON.stringify(count))
process.exit()
