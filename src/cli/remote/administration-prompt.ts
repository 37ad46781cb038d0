/**
 * Asks for confirmation before a change that takes something away, and before one that would leave the tenant
 * without an administrator, according to the plan of the gateway.
 */

import { CommandFailed, type Terminal } from '../command.ts'
import { planOf } from '../seats/plan-output.ts'
import { warn } from '../seats/written.ts'
import type { Gateway } from './gateway-client.ts'
import { GatewayRefusal } from './problem-text.ts'
import type { PlanBody, Warning } from './endpoint-answers.ts'

/**
 * Asks a question.
 *
 * @param question the question, such as `Delete 2 Seats?`
 * @param change the change, for the message without a terminal: `2 Seats would be deleted`
 * @param yes the value of the option that takes the place of the answer: there is no question
 * @param option its name
 * @throws CommandFailed if nothing is to be written
 */
export async function confirm(
  { question, change }: Readonly<Record<'question' | 'change', string>>,
  yes: boolean | undefined,
  terminal: Terminal,
  option = '--yes',
): Promise<void> {
  if (yes === true) return
  const answer = await terminal.ask(`${question} (yes/no) `)
  if (answer === null) throw new CommandFailed(`nothing was written: ${change}, which needs ${option}`)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailed('nothing was written')
}

export const YES = {
  description: 'does not ask for confirmation, even if no one could administer the tenant afterwards',
} as const

/**
 * Asks before a change that leaves no administrator. A caller who may not ask for a plan is not asked: the
 * change itself does not require that permission.
 *
 * @param change the change, of which nothing is written here
 */
export async function confirmChange(
  gateway: Gateway,
  change: PlanBody,
  yes: boolean | undefined,
  terminal: Terminal,
): Promise<void> {
  const warnings = await planOf(gateway, change).then(
    (plan) => plan.warnings,
    (cause: unknown): readonly Warning[] => {
      if (cause instanceof GatewayRefusal && cause.problem.code === 'permission_denied') return []
      throw cause
    },
  )
  await confirmAdministration(warnings, yes, terminal)
}

/**
 * Asks if the plan would leave no administrator.
 *
 * @param warnings the warnings of the plan
 * @throws CommandFailed if nothing is to be written
 */
export async function confirmAdministration(
  warnings: readonly Warning[],
  yes: boolean | undefined,
  terminal: Terminal,
): Promise<void> {
  const severe = warnings.filter(({ code }) => code === 'nobody_administers')
  if (severe.length === 0 || yes === true) return
  warn(severe, terminal)
  const question = { question: 'Do it anyway?', change: 'it would leave no administrator' }
  await confirm(question, yes, terminal)
}
