"""Messages as people send them to an agent, judged by hand: is it a task, and which part of it says what is wanted.

`SEEN` was looked at while the rules were written. `HELD_OUT` was written before them and only measured.
"""

from __future__ import annotations

LOG = """2025-06-02 10:14:07,112 INFO  [main] o.a.k.c.NetworkClient - Node -1 disconnected.
2025-06-02 10:14:08,301 WARN  [main] o.a.k.c.NetworkClient - Connection to node -1 could not be established.
2025-06-02 10:14:09,411 WARN  [main] o.a.k.c.NetworkClient - Bootstrap broker localhost:9092 disconnected
2025-06-02 10:14:10,502 ERROR [main] c.e.Consumer - Giving up after 3 attempts
java.lang.IllegalStateException: no brokers
\tat com.example.Consumer.poll(Consumer.java:88)
\tat com.example.Main.main(Main.java:14)
"""
TRACE = """Traceback (most recent call last):
  File "/app/run.py", line 41, in <module>
    main()
  File "/app/run.py", line 37, in main
    total = sum(row["amount"] for row in rows)
KeyError: 'amount'
"""
BUILD = """> shop@2.1.0 build
> vite build

vite v5.2.8 building for production...
transforming (1) index.html
\u2713 34 modules transformed.
error during build:
src/App.tsx (7:9): "Cart" is not exported by "src/cart.ts", imported by "src/App.tsx".
npm ERR! code ELIFECYCLE
npm ERR! errno 1
"""
SHELL = """$ systemctl status nginx
\u25cf nginx.service - A high performance web server
   Loaded: loaded (/lib/systemd/system/nginx.service; enabled)
   Active: failed (Result: exit-code) since Tue 2025-01-07 08:00:03 UTC
  Process: 812 ExecStart=/usr/sbin/nginx (code=exited, status=1/FAILURE)
"""

SEEN: list[tuple[str, bool]] = [
    ("hi", False),
    ("Hello!", False),
    ("good morning", False),
    ("thanks a lot", False),
    ("ok great", False),
    ("continue", False),
    ("please continue", False),
    ("go on", False),
    ("yes", False),
    ("no, the other one", False),
    ("fix it", False),
    ("try again", False),
    ("do it again please", False),
    ("make it shorter", False),
    ("looks good", False),
    ("why?", False),
    ("what do you mean?", False),
    ("undo that", False),
    ("are you sure?", False),
    ("/help", False),
    ("/clear", False),
    ("/model opus", False),
    ("!ls -la", False),
    ("Hallo, wie geht's?", False),
    ("danke sch\u00f6n", False),
    ("weiter", False),
    ("bonjour", False),
    ("gracias", False),
    ("\u4f60\u597d", False),
    ("\u7ee7\u7eed", False),
    ("\u3053\u3093\u306b\u3061\u306f", False),
    ("\u043f\u0440\u0438\u0432\u0435\u0442", False),
    ("\U0001f44d", False),
    ("...", False),
    (LOG, False),
    (TRACE, False),
    ("Segmentation fault (core dumped)", False),
    (f"Why does the consumer give up? Please make it retry for a minute.\n\n{LOG}", True),
    (f"{TRACE}\nHow do I skip rows that have no amount?", True),
    ("How many cans are in 4 pallets and 14 crates of tomatoes?", True),
    ("Sort the following words alphabetically: List: oak elm birch", True),
    ("not ( True ) and ( True ) is", True),
    ("Complete the rest of the sequence, making sure that the parentheses are closed properly. Input: [ { ( <", True),
    ("((-1 + 2 + 9 * 5) - (-2 + -4 + -4 * -7)) =", True),
    ("Write a poem about the sea.", True),
    ("run the tests", True),
    ("explain recursion", True),
    ("Fix the bug in the login form.", True),
    ("Refactor auth.py so that tokens are refreshed in the background.", True),
    ("What is the capital of Peru?", True),
    ("Schreibe eine Funktion, die eine Liste sortiert.", True),
    ("\u8bf7\u5e2e\u6211\u5199\u4e00\u5c01\u8bf7\u5047\u90ae\u4ef6", True),
    (
        "\u041d\u0430\u043f\u0438\u0448\u0438 \u0444\u0443\u043d\u043a\u0446\u0438\u044e, \u043a\u043e\u0442\u043e\u0440\u0430\u044f \u0441\u043e\u0440\u0442\u0438\u0440\u0443\u0435\u0442 \u0441\u043f\u0438\u0441\u043e\u043a.",
        True,
    ),
    ("/usr/local/bin is not on my PATH, add it for zsh", True),
    ("Rename the column `amount` to `total` in every query of src/reports/*.sql", True),
    ("Hi! Could you convert 12 miles into kilometers?", True),
    ("ok, now write the invoice number for the Bern office, March 2024, count 17", True),
]

HELD_OUT: list[tuple[str, bool]] = [
    ("hey there", False),
    ("Good evening, nice to meet you", False),
    ("thank you so much!", False),
    ("perfect", False),
    ("sounds good, go ahead", False),
    ("keep going", False),
    ("next", False),
    ("nope", False),
    ("yes please do that", False),
    ("do the same again", False),
    ("that's wrong, try once more", False),
    ("a bit longer please", False),
    ("can you explain that?", False),
    ("how so?", False),
    ("what next?", False),
    ("revert it", False),
    ("never mind", False),
    ("stop", False),
    ("wait", False),
    ("lgtm", False),
    ("cool, thanks", False),
    ("/compact", False),
    ("/review 123", False),
    ("/plugin:deploy", False),
    ("Guten Tag!", False),
    ("vielen Dank", False),
    ("ja, mach weiter", False),
    ("merci beaucoup", False),
    ("s\u00ed, adelante", False),
    ("hola", False),
    ("ciao, grazie", False),
    ("\u8c22\u8c22", False),
    ("\u3042\u308a\u304c\u3068\u3046", False),
    ("\u0441\u043f\u0430\u0441\u0438\u0431\u043e", False),
    ("\uc548\ub155\ud558\uc138\uc694", False),
    ("ok :)", False),
    ("???", False),
    (BUILD, False),
    (SHELL, False),
    ("npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree", False),
    ("error[E0382]: borrow of moved value: `config`", False),
    (f"The build broke after I renamed a file, find the wrong import.\n{BUILD}", True),
    (f"{SHELL}\nnginx does not start any more, what should I check first?", True),
    ("Which crew works on day 112 of the year?", True),
    ("True and not not ( not False ) is", True),
    ('Is the following sentence plausible? "Mookie Betts skated behind the net."', True),
    ("Today is Christmas Eve of 1937. What is the date tomorrow in MM/DD/YYYY?", True),
    ("summarize README.md", True),
    ("add dark mode", True),
    ("deploy to staging", True),
    ("Write unit tests for src/cart.ts", True),
    ("Explain the difference between TCP and UDP.", True),
    ("translate 'good night' into Finnish", True),
    ("The page is blank in Safari, please find out why.", True),
    ("Erkl\u00e4re mir, wie ein Kalman-Filter funktioniert.", True),
    ("Corrige la fonction de tri dans utils.py, s'il te pla\u00eet", True),
    ("Escribe una consulta SQL que devuelva los diez mejores clientes", True),
    ("\u3053\u306e\u95a2\u6570\u306e\u30c6\u30b9\u30c8\u3092\u66f8\u3044\u3066\u304f\u3060\u3055\u3044", True),
    ("\u4eca\u5929\u665a\u996d\u5403\u4ec0\u4e48\u597d", True),
    ("Thanks! Next: create a Dockerfile for the worker.", True),
    ("yes, and also export the table as CSV with a header row", True),
    ("9.11 or 9.9, which is larger?", True),
]
