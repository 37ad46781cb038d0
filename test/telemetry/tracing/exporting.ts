/** A gateway whose spans go to a collector of the test, and the counts of them. */

import type { Test } from 'tap'
import { until } from '../../support/until.ts'
import { startWorld, type World } from '../../support/world.ts'
import { metricsOf } from '../../support/operations.ts'

export async function tracedBy(t: Test, url: string, env: Record<string, string> = {}): Promise<World> {
  return startWorld(t, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '1', ...env },
  })
}

/** ms that the end of a gateway waits for the collector. */
export const LAST_WAIT = 3000

/** A small queue, and no patience with the collector. */
export const SMALL = {
  OTEL_BSP_MAX_QUEUE_SIZE: '4',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
  OTEL_BSP_EXPORT_TIMEOUT: '100',
}

async function countsOf(world: World): Promise<Record<string, number>> {
  const text = await metricsOf(world)
  const found = text.matchAll(/^seatgate_spans_total\{result="(\w+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, result = '', value]) => [result, Number(value)]))
}

export async function untilCounts(world: World, holds: (counts: Record<string, number>) => boolean) {
  let counts: Record<string, number> = {}
  return until(
    async () => holds((counts = await countsOf(world))) && counts,
    () => `the counts of spans are ${JSON.stringify(counts)}`,
  )
}

/** Requests that all succeed, two spans each. */
export async function requests(t: Test, world: World, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { status } = await world.client.send('GET', `/docs/${i}`)
    if (status !== 200) t.fail(`status ${status}`)
  }
}

export const sum = ({ exported = 0, dropped = 0, failed = 0 }: Record<string, number>) =>
  exported + dropped + failed

/** The log lines about lost spans. */
export function losses(world: World): Record<string, unknown>[] {
  return world.log().filter(({ msg }) => String(msg).startsWith('spans are lost'))
}

/** After the loss of a batch, every span is in one of the counts. */
export async function losesAll(t: Test, world: World): Promise<void> {
  await requests(t, world, 20)
  const counts = await untilCounts(world, (each) => sum(each) === 40)
  t.equal(counts['exported'], 0)
  t.ok((counts['failed'] ?? 0) > 0, `${counts['failed']} failed`)
  t.match(losses(world)[0], { level: 'warn', spans: Number })
}
