/** The time, once a second, for ages that tick without a request. */

class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1_000);
  }
}

export const clock = new Clock();
