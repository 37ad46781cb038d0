/** `seatgate seats apply`. */

import { UsageError } from '../arguments.ts'
import { CommandFailed, defineCommand, type Terminal } from '../command.ts'
import { JSON_OUTPUT } from '../shared-options.ts'
import { confirm, confirmAdministration } from '../remote/administration-prompt.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import type { Plan, SeatsBody, Warning } from '../remote/endpoint-answers.ts'
import { inputsOf, readSavedPlan, readSeats, SEATS_FILES, type SavedPlan } from './seats-input.ts'
import { planOf, PRUNE } from './seats-plan.ts'
import { counted, planText } from './plan-output.ts'
import { warn } from './written.ts'

interface Applied {
  readonly changes: readonly { readonly action: string; readonly name: string; readonly id: string }[]
  readonly unchanged: number
  readonly warnings: readonly Warning[]
}

export const applySeats = defineCommand(
  {
    name: 'seats apply',
    summary: "Makes a tenant's Seats match the files: all changes or none.",
    details:
      'It prints the plan first and applies exactly that plan: if a Seat changes in the meantime, nothing is written. Given a plan saved with `seatgate seats plan --out`, it applies that plan.',
    positionals: [{ ...SEATS_FILES, description: `${SEATS_FILES.description}; or a saved plan` }],
    options: {
      prune: PRUNE,
      yes: {
        description:
          'does not ask for confirmation before it deletes Seats or makes changes that leave no administrator',
      },
      ...REMOTE,
      json: JSON_OUTPUT,
    },
    exits: {
      0: 'done, or there was nothing to do: no instance decides on the old state any more',
      1: 'a file has faults, a Seat has changed since the plan, or the gateway refused the request or could not be reached; nothing was written, unless the message says that it may have been',
    },
    example: 'seatgate seats apply seats.yaml',
  },
  async ({ values, positionals }, terminal) => {
    const inputs = await inputsOf(positionals, values['api-key'], terminal)
    const saved = readSavedPlan(inputs)
    if (saved !== null && values.prune === true)
      throw new UsageError('--prune goes with files: a plan has it')
    const read = saved === null ? await readSeats(inputs, terminal.env) : saved.body
    const body: SeatsBody = values.prune === true ? { ...read, prune: true } : read
    return withGateway(values, terminal, async (gateway) => {
      if (saved !== null && saved.space !== gateway.space)
        throw new CommandFailed(`the plan was made in space ${saved.space}: give --space ${saved.space}`)
      const plan = saved?.plan ?? (await planOf(gateway, body))
      const isUsed = saved !== null && (await wasApplied(gateway, saved))
      if (!values.json) await terminal.print(isUsed ? APPLIED : planText(plan))
      const isDue = !isUsed && plan.changes.length > 0
      if (isDue) await confirmDeletions(plan, values.yes, terminal)
      // The plan that is printed has the warning already; a question says what it is about again.
      if (isDue) await confirmAdministration(plan.warnings, values.yes, terminal)
      // Also where there is nothing to do: the write that did it may not be known everywhere yet.
      const applied = await apply(gateway, { ...body, versions: plan.versions }, isUsed)
      if (values.json) return terminal.print(JSON.stringify(applied))
      if (saved === null && plan.changes.length === 0) return
      warn(saved === null ? [] : applied.warnings, terminal)
      await terminal.print(`applied: ${counted(applied.changes.length, 'change')}`)
    })
  },
)

const APPLIED = 'this plan was applied before: the Seats are as it says'

/** Whether nothing of a plan is left to do. The gateway refuses it all the same, as its Seats have other versions now. */
async function wasApplied(gateway: Gateway, { body, plan }: SavedPlan): Promise<boolean> {
  const { versions: _, ...wanted } = body
  return plan.changes.length > 0 && (await planOf(gateway, wanted)).changes.length === 0
}

async function confirmDeletions(
  { changes }: Plan,
  yes: boolean | undefined,
  terminal: Terminal,
): Promise<void> {
  const gone = changes.filter(({ action }) => action === 'delete').length
  if (gone === 0) return
  const seats = counted(gone, 'Seat')
  await confirm({ question: `Delete ${seats}?`, change: `${seats} would be deleted` }, yes, terminal)
}

async function apply(gateway: Gateway, body: SeatsBody, isUsed: boolean): Promise<Applied> {
  try {
    return (await gateway.send<Applied>('/v1/seats/apply', { method: 'POST', body })).value
  } catch (cause) {
    if (!(cause instanceof GatewayRefusal) || cause.problem.code !== 'precondition_failed') throw cause
    const why = isUsed ? 'a plan is applied once' : 'Seats have changed since the plan'
    throw new CommandFailed(
      `nothing was written, because ${why}: plan again (request ${cause.problem.requestId})`,
    )
  }
}
