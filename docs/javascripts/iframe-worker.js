// The search of the site runs in a Worker, which browsers refuse to start for pages opened from the file system. There, a
// hidden frame takes the worker's place. Zensical would load a script for this from another host; this one is local.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.onmessage?.(message);
        this.dispatchEvent(message);
      };
      const script = inside.document.createElement("script");
      this.loaded = new Promise((resolve) => script.addEventListener("load", resolve));
      script.src = url;
      inside.document.body.append(script);
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow?.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
