/** `seatgate seats plan`. */

import { writeFileSync } from 'node:fs'
import { CommandFailed, defineCommand } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import type { Plan, PlanBody } from '../remote/endpoint-answers.ts'
import { inputsOf, planFile, readSeats, SEATS_FILES } from './seats-input.ts'
import { planText } from './plan-output.ts'

const CHANGES = 3

export const PRUNE = {
  description: 'deletes Seats that no file lists, as far as the API key may see them',
} as const

export const planSeats = defineCommand(
  {
    name: 'seats plan',
    summary: "Shows what the files would change in a tenant's Seats, and who is affected.",
    details:
      'A file has `tenant`, and `seats` by name with `spaces`, `permissions`, and `was` for a Seat that had another name. A plan saved with --out can be applied as long as none of its Seats has changed.',
    positionals: [SEATS_FILES],
    options: {
      prune: PRUNE,
      out: { value: 'P', description: 'saves the plan to this file', completes: 'file' },
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: {
      0: 'nothing to do: the Seats match the files',
      1: 'a file has faults, or the gateway refused the request or could not be reached',
      3: 'there are changes',
    },
    example: 'seatgate seats plan seats.yaml --out seats.plan',
  },
  async ({ values, positionals }, terminal) => {
    const inputs = await inputsOf(positionals, values['api-key'], terminal)
    const read = await readSeats(inputs, terminal.env)
    const body = values.prune === true ? { ...read, prune: true } : read
    return withGateway(values, terminal, async (gateway) => {
      const plan = await planOf(gateway, body)
      if (values.out !== undefined) save(values.out, planFile(body, plan))
      await terminal.print(values.json ? JSON.stringify(plan) : planText(plan))
      return plan.changes.length === 0 ? 0 : CHANGES
    })
  },
)

export async function planOf(gateway: Gateway, body: PlanBody): Promise<Plan> {
  return (await gateway.send<Plan>('/v1/seats/plan', { method: 'POST', body, reads: true })).value
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CommandFailed(`the plan cannot be written: ${why}`)
  }
}
