/** Metrics of the instance in its fleet: the feed, announcements and acknowledgements. */

import type { Log } from './logger.ts'
import { messageOf } from './readable.ts'
import { MetricRegistry } from './metric-registry.ts'

/** Seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.25, 1.5, 2.5]

export class FleetMetrics extends MetricRegistry {
  readonly #answered = this.histogram(
    'seatgate_write_answered_seconds',
    'Time from the commit of a write to its response: acknowledged by all instances, or waited until no earlier lease was live.',
    BUCKETS,
    ['by'],
  )
  readonly #acknowledged = this.histogram(
    'seatgate_acknowledgement_seconds',
    'Time from the commit of a change to the acknowledgement of another instance.',
    BUCKETS,
  )
  readonly #losses = this.counter(
    'seatgate_feed_losses_total',
    'Number of times that the change feed of the store became unreadable.',
  )
  readonly #reloads = this.counter(
    'seatgate_config_reloads_total',
    'Reloads of the configuration, by result.',
    ['result'],
  )

  readonly #changes = this.counter(
    'seatgate_config_changes_total',
    'Changes that reloads made to the route tables, by meaning, as seatgate diff counts them: pairs of entries that answer the same requests differently.',
    ['kind'],
  )

  /** @param counts by kind */
  tablesChanged(counts: Readonly<Record<string, number>>): void {
    for (const [kind, count] of Object.entries(counts)) this.#changes.inc({ kind }, count)
  }

  reloaded(result: 'ok' | 'faulty'): void {
    this.#reloads.labels({ result }).inc()
  }

  /** The listener of the events of `coherence/instance.ts`. */
  listener({ logger }: Log) {
    return {
      feed: (state: 'live' | 'lost' | 'restored', cause: unknown) => {
        if (state === 'restored')
          return logger.warn('the store has another history, as after a restore: all is read from it again')
        if (state === 'live')
          return logger.info('the store responds: decisions are made from memory under a lease')
        this.#losses.inc()
        logger.error({ cause: messageOf(cause) }, 'the store does not respond')
      },
      answered: ({ by, after }: { readonly by: 'acknowledged' | 'waited'; readonly after: number }) => {
        this.#answered.observe({ by }, after / 1000)
        if (by === 'waited')
          logger.warn(
            { ms: Math.round(after) },
            'a write was acknowledged after a wait: an instance did not respond',
          )
      },
      acknowledged: (after: number) => this.#acknowledged.observe(after / 1000),
    }
  }
}
