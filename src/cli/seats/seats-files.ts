/** `seatgate seats plan`, `apply` and `export`: Seats as files. */

import { writeFileSync } from 'node:fs'
import { Document, visit } from 'yaml'
import { escapeVariables } from '../../config/environment.ts'
import { UNREADABLE } from '../../config/read-file.ts'
import { JSON_OUTPUT, UsageError } from '../arguments.ts'
import { CommandFailed, defineCommand, messageOf, type Terminal } from '../command.ts'
import { confirm, confirmAdministration } from '../remote/administration-prompt.ts'
import type { Plan, SeatItem, SeatsBody, SeatView, Warning } from '../remote/endpoint-answers.ts'
import { READ } from '../remote/exits.ts'
import { idOf } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { REMOTE, withGateway } from '../remote/gateway-options.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { plural } from '../screen.ts'
import { planOf, planText } from './plan-output.ts'
import { inputsOf, planFile, readSavedPlan, readSeats, type SavedPlan, SEATS_FILES } from './seats-input.ts'
import { warn } from './written.ts'

const CHANGES = 3

const PRUNE = {
  description: 'deletes Seats that no file lists, as far as the API key may see them',
} as const

export const planSeats = defineCommand({
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
  run: async ({ values, positionals }, terminal) => {
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
})

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (cause) {
    throw new CommandFailed(`the plan cannot be written: ${messageOf(cause)}`)
  }
}

export const applySeats = defineCommand({
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
  run: async ({ values, positionals }, terminal) => {
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
      // The printed plan has the warning already; the question names its subject again.
      if (isDue) await confirmAdministration(plan.warnings, values.yes, terminal)
      // The write is sent even if there is nothing to do: an earlier write may not be known everywhere yet.
      const applied = await apply(gateway, { ...body, versions: plan.versions }, isUsed)
      if (values.json) return terminal.print(JSON.stringify(applied))
      if (saved === null && plan.changes.length === 0) return
      warn(saved === null ? [] : applied.warnings, terminal)
      await terminal.print(`applied: ${plural(applied.changes.length, 'change')}`)
    })
  },
})

const APPLIED = 'this plan was applied before: the Seats are as it says'

/** Whether nothing of a plan is left to do. Its Seats may have other versions, which the gateway refuses. */
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
  const seats = plural(gone, 'Seat')
  await confirm({ question: `Delete ${seats}?`, change: `${seats} would be deleted` }, yes, terminal)
}

interface Applied {
  readonly changes: readonly { readonly action: string; readonly name: string; readonly id: string }[]
  readonly unchanged: number
  readonly warnings: readonly Warning[]
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

/** The merge key of YAML, unless it is in quotes. */
const MERGE = '<<'

export const exportSeats = defineCommand({
  name: 'seats export',
  summary: 'Prints the Seats as a file for `seats plan` and `seats apply`.',
  details: 'It contains the Seats that the API key may see.',
  options: { ...REMOTE, json: { ...JSON_OUTPUT, description: 'prints JSON, which is also YAML' } },
  exits: READ,
  example: 'seatgate seats export > seats.yaml',
  run: async ({ values }, terminal) =>
    withGateway(values, terminal, async (gateway) => {
      const { tenant } = await planOf(gateway, { seats: {} })
      const seats = new Map<string, SeatItem>()
      for await (const page of gateway.pages<SeatView>('/v1/seats', idOf))
        for (const { name, spaces, permissions } of page)
          seats.set(escapeVariables(name), { spaces, permissions })
      // Names are sorted by code unit, which is the same on every machine, so that exports can be compared.
      const sorted = [...seats.keys()].toSorted().map((name) => [name, seats.get(name)])
      const content = { tenant, seats: Object.fromEntries(sorted) }
      const text = values.json ? JSON.stringify(content) : yamlOf(content)
      await terminal.print(escaped(text.trimEnd()))
    }),
})

function yamlOf(content: object): string {
  const document = new Document(content, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, node) => {
      const { value } = node
      if (typeof value === 'string' && (value === MERGE || UNREADABLE.test(value))) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 100 })
}

/** Escapes characters that a reader refuses. They are in double quotes, where JSON and YAML are alike. */
function escaped(text: string): string {
  return text.replace(
    new RegExp(UNREADABLE, 'g'),
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
