"""A desktop's notification service on the session bus: prints each notice as a line of JSON. For Debian's interpreter."""

import json

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


class Desktop(dbus.service.Object):
    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, program, _replaces, _icon, title, body, _actions, _hints, _timeout):
        print(json.dumps({"program": program, "title": title, "body": body}), flush=True)
        return 1

    @dbus.service.method(NAME, in_signature="", out_signature="ssss")
    def GetServerInformation(self):
        return "test", "muster", "1", "1.2"

    @dbus.service.method(NAME, in_signature="", out_signature="as")
    def GetCapabilities(self):
        return ["body"]


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    held = dbus.service.BusName(NAME, bus)
    desktop = Desktop(bus, "/org/freedesktop/Notifications")
    print("ready", flush=True)
    GLib.MainLoop().run()
    return (held, desktop)  # both live as long as the loop


if __name__ == "__main__":
    main()
